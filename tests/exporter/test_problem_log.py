"""What is logged about a problem, on a real server."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pytest

from exporter import logs
from lab.postgres import Postgres

from .exporting import exporting
from .workload import MONITOR, PASSWORD

pytestmark = pytest.mark.servers

SOLVED = "solved"


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with Postgres("17", extension=False) as running:
        running.execute(f"CREATE ROLE {MONITOR} LOGIN PASSWORD '{PASSWORD}'")
        yield running


def logged(stream: io.StringIO) -> list[tuple[str, str]]:
    """Reason and remedy of each line about a problem."""
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    return [(line["reason"], line.get("remedy", SOLVED)) for line in lines]


def test_problems_are_logged_once_with_the_sql_that_fixes_them(
    server: Postgres,
) -> None:
    stream = io.StringIO()
    logs.set_up("info", "json", stream)

    with exporting(server.dsn_for(user=MONITOR, password=PASSWORD)) as exporter:
        for _ in range(3):
            exporter.scrape()
        for number in range(2):
            remedies = [remedy for _, remedy in logged(stream) if remedy != SOLVED]
            server.execute(remedies[number])
            for _ in range(3):
                exporter.scrape()

    assert logged(stream) == [
        ("extension_missing", "CREATE EXTENSION pg_stat_statements;"),
        (
            "privilege_missing",
            'GRANT pg_read_all_stats TO "pgverdict"; ALTER ROLE "pgverdict" INHERIT;',
        ),
        ("extension_missing", SOLVED),
        ("privilege_missing", SOLVED),
    ]


def test_the_grants_for_a_locked_extension_work_as_logged(server: Postgres) -> None:
    server.execute("CREATE SCHEMA locked")
    server.execute("DROP EXTENSION IF EXISTS pg_stat_statements")
    server.execute("CREATE EXTENSION pg_stat_statements SCHEMA locked")
    server.execute("REVOKE ALL ON FUNCTION locked.pg_stat_statements FROM PUBLIC")
    server.execute("REVOKE ALL ON locked.pg_stat_statements_info FROM PUBLIC")
    stream = io.StringIO()
    logs.set_up("info", "json", stream)

    with exporting(server.dsn_for(user=MONITOR, password=PASSWORD)) as exporter:
        before = exporter.problems()
        server.execute(logged(stream)[0][1])
        after = exporter.problems()

    assert (before, after - {"privilege_missing"}) == ({"permission_denied"}, set())
