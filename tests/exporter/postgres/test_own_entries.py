"""The exporter's own queries add a few entries, and not more and more of them."""

from __future__ import annotations

import pytest

from lab.postgres import Postgres
from lab.process import wait_until

from ..exporting import Exporter, exporting

MONITOR, PASSWORD = "monitor", "lab"  # of throw-away servers on loopback
ROUNDS, NEW = 4, 20


@pytest.mark.servers
@pytest.mark.parametrize("version", ["14", "18"])
def test_scrapes_and_reads_of_new_texts_leave_the_same_few_entries(
    version: str,
) -> None:
    counts = []
    with Postgres(version) as server:
        role = f"{MONITOR} LOGIN PASSWORD '{PASSWORD}'"
        server.execute(f"CREATE ROLE {role} IN ROLE pg_read_all_stats")
        dsn = server.dsn_for(MONITOR, PASSWORD)
        flags = ("--texts.enabled=true", "--texts.interval=50ms")
        with exporting(dsn, *flags) as exporter:
            for used in range(NEW, (ROUNDS + 1) * NEW, NEW):
                use(server, first=used - NEW)
                wait_until(
                    lambda used=used: texts(exporter) >= used,  # type: ignore[misc]
                    seconds=10,
                    what="the texts of all that was used",
                )
                counts.append(own_entries(server))

    assert counts[-1] == counts[1] < 20


def use(server: Postgres, *, first: int) -> None:
    """Run statements that are new to the server."""
    for number in range(first, first + NEW):
        server.execute(f"SELECT {', '.join(['1'] * (number + 1))}")


def texts(exporter: Exporter) -> int:
    return sum(name == "pg_stat_statements_query_info" for name, _ in exporter.scrape())


def own_entries(server: Postgres) -> int:
    ((count,),) = server.execute(
        "SELECT count(*) FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid"  # noqa: S608
        f" WHERE rolname = '{MONITOR}'"
    )
    return int(count)
