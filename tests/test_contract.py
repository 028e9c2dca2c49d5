"""The two programs share only names: what one reads is what the other writes."""

from __future__ import annotations

from pathlib import Path

from evaluator.sources.profiles import PROFILES
from exporter.metrics.counters import COUNTERS

PROFILE = PROFILES["pgverdict"]
PAGE = Path(__file__).parents[1] / "docs" / "exporter.md"


def test_every_counter_that_the_evaluator_reads_is_one_of_the_exporter():
    written = {counter.name for counter in COUNTERS}

    assert {*PROFILE.counters, *PROFILE.details, PROFILE.squares} <= written


def test_every_metric_that_the_evaluator_reads_is_on_the_page_of_the_exporter():
    page = PAGE.read_text("utf-8")

    assert [name for name in PROFILE.all_metrics if f"`{name}`" not in page] == []
