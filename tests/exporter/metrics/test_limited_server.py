"""The limit on a real server: what is shown, and how the rest is counted."""

from __future__ import annotations

import pytest

from ..builders import series
from ..exporting import exporting, statement_series
from ..oracle import truth
from ..workload import busy_server, monitor_dsn

LEFT_OUT = series("pgverdict_exporter_statements_left_out")
SHARE = series("pgverdict_exporter_statements_left_out_time_ratio")
SECONDS = "pg_stat_statements_seconds_total"


@pytest.mark.servers
def test_a_limit_shows_the_costliest_and_counts_the_rest() -> None:
    with busy_server("17") as server:
        with exporting(monitor_dsn(server), "--statements.limit=10") as exporter:
            scraped = exporter.scrape()
        every = {s: v for s, v in truth(server).items() if s[0] == SECONDS}

    shown = {s: v for s, v in statement_series(scraped).items() if s[0] == SECONDS}
    costliest = sorted(every, key=every.__getitem__, reverse=True)[:10]
    rest = sum(every.values()) - sum(shown.values())
    assert set(shown) == set(costliest)
    assert scraped[LEFT_OUT] == len(every) - 10
    assert scraped[SHARE] == pytest.approx(rest / sum(every.values()))
