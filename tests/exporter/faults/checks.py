"""What a scrape shows during and after a fault."""

from __future__ import annotations

from lab.postgres import Postgres
from lab.process import wait_until

from ..builders import Series
from ..exporting import PG_UP, Exporter, reasons, statement_series

# Seconds for a scrape that must end without an answer of the server.
SHORT = 1.5


def assert_complete(scraped: dict[Series, float]) -> None:
    assert reasons(scraped) == set()
    assert scraped[PG_UP] == 1
    assert statement_series(scraped)


def assert_down(scraped: dict[Series, float], reason: str) -> None:
    assert reasons(scraped) == {reason}
    assert scraped[PG_UP] == 0
    assert not statement_series(scraped)


def connections(server: Postgres) -> int:
    ((number,),) = server.execute(
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE application_name = 'pgverdict_exporter'"
    )
    return int(number)


def assert_recovers(exporter: Exporter) -> None:
    """Within the time that libpq may still wait for an earlier connection attempt."""
    wait_until(
        lambda: exporter.scrape()[PG_UP] == 1, seconds=10, what="the exporter recovers"
    )
    assert_complete(exporter.scrape())
