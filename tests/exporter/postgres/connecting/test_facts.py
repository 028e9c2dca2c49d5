"""Versions as servers and forks spell them; what is there decides what is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from exporter.postgres.connecting.facts import major_version
from lab.postgres import Postgres

from ...builders import Series
from ...exporting import exporting, reasons, statement_series


@pytest.mark.parametrize(
    ("number", "version", "major"),
    [
        ("170011", "17.11 (Debian 17.11-1.pgdg12+1)", 17),
        ("150002", "15.2-YB-2.25.0.0-b0", 15),
        ("160003", "16.3.0 (EnterpriseDB Advanced Server)", 16),
        ("120012", "12.12 (Greenplum Database 7.1.0 build commit:abc)", 12),
        ("180000", "18beta2", 18),
        ("190000", "19devel", 19),
        (None, "EnterpriseDB 16.3", 16),
        (None, "PostgreSQL 15.2-YB-2.25", 15),
        ("", "14.9", 14),
        ("many", "unknown", 0),
        (None, "", 0),
    ],
)
def test_the_major_version_is_read_however_it_is_spelled(
    number: str | None, version: str, major: int
) -> None:
    assert major_version(number, version) == major


@pytest.fixture(scope="module", params=["14", "18"])
def server(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    with Postgres(request.param) as running:
        running.execute("SELECT oid FROM pg_class")
        yield running


def shape(scraped: dict[Series, float]) -> set[tuple[str, frozenset[str]]]:
    """Names of the series of statements, and those of their labels."""
    return {
        (name, frozenset(dict(labels))) for name, labels in statement_series(scraped)
    }


@pytest.mark.servers
@pytest.mark.parametrize(
    "version",
    [
        "1.10-yb-2.0",
        "1.10.1",
        "1.9",
        "1.4",
        "0",
        "EDB 1.12",
        "v2",
        "一",
        "1.12 patched",
    ],
)
def test_an_extension_is_read_whatever_it_calls_itself(
    server: Postgres, version: str
) -> None:
    ((own,),) = server.execute(
        "SELECT extversion FROM pg_extension WHERE extname = 'pg_stat_statements'"
    )
    with exporting(server.dsn) as exporter:
        before = exporter.scrape()
        rename(server, version)
        after = exporter.scrape()
        rename(server, own)

    assert reasons(after) == set()
    assert shape(after) == shape(before)
    (info,) = (dict(labels) for name, labels in after if name == "pg_server_info")
    assert info["extension_version"] == version


def rename(server: Postgres, version: str) -> None:
    server.execute(
        f"UPDATE pg_extension SET extversion = '{version}' "  # noqa: S608
        "WHERE extname = 'pg_stat_statements'"
    )
