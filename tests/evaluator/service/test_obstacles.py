"""Which settings leave nothing to judge, and what would work instead."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evaluator.model import DecisionKind, Reason, Settings
from evaluator.service.evaluate import examine
from evaluator.service.obstacles import few_calls, obstacles, short_history
from evaluator.sinks.annotations import draft_of
from evaluator.sources.readings import Reading
from evaluator.units import parse_duration
from tests.builders import DEPLOY_AT, deploy
from tests.queries import Counters, batches

from ...builders import key


def said(interval, **settings):
    return "; ".join(obstacles(Settings(**settings), interval))


def test_the_defaults_work_at_usual_intervals():
    for interval in (1, 5, 15, 30, 60, 120):
        assert said(interval) == ""


def test_a_longest_interval_below_the_scrape_interval_is_named_with_what_works():
    assert said(360.0, window=10800.0) == (
        "engine.max_gap (5m) is not above the scrape interval (6 min), so intervals "
        "are dropped as gaps; set engine.max_gap to 12m or more, or scrape more often"
    )


def test_scrapes_that_come_a_little_late_must_fit_as_well():
    assert "engine.max_gap (5m)" in said(300.0, window=10800.0)


def test_a_window_with_too_few_intervals_is_named_with_what_works():
    assert said(60.0, window=300.0) == (
        "a window of 5 min holds 5 intervals of 60 s, fewer than engine.min_samples "
        "(10); scrape more often or widen the window: set engine.window to 11m or more"
    )


@given(
    interval=st.floats(1, 3600),
    max_gap=st.integers(1, 3600),
    window=st.integers(60, 20_000),
    samples=st.integers(3, 60),
)
def test_what_is_proposed_works(interval, max_gap, window, samples):
    settings = {"max_gap": max_gap, "window": window, "min_samples": samples}
    text = said(interval, **settings)
    proposed = dict(re.findall(r"engine\.(max_gap|window) to (\w+)", text))
    assume(proposed)

    for name, value in proposed.items():
        settings[name] = parse_duration(value)

    assert said(interval, **settings) == ""


@given(calls=st.floats(0.01, 99.5), window=st.integers(60, 10_000))
def test_what_is_proposed_for_the_calls_works(calls, window):
    most = calls / window
    text = few_calls(Settings(window=window), most)
    found = re.search(r"window to (\w+) or more, or engine\.min_calls to (\d+)", text)
    assert found is not None

    longer, fewer = parse_duration(found[1]), int(found[2])
    assert not few_calls(Settings(window=longer), most)
    assert fewer == 1 or not few_calls(Settings(window=window, min_calls=fewer), most)


def test_a_history_below_three_windows_is_named_for_the_engine_that_learns():
    assert short_history(Settings(window=7200.0)).endswith(
        "set engine.history to 6h or more"
    )
    assert short_history(Settings()) == ""
    assert short_history(Settings(window=7200.0, engine="classic")) == ""


def judged(step, *, rate=5.0, queries=3, **settings):
    """The report on queries that were scraped every *step* seconds."""
    chosen = Settings(**settings)
    times = DEPLOY_AT + np.arange(-20_000.0, chosen.window + 1, step)
    done = np.floor(rate * (times - times[0]))
    series = [
        Counters(key(str(one)), times, done, done * 0.01) for one in range(queries)
    ]

    def read(_, start, end):
        return Reading(
            tuple(batch.between(start, end) for batch in batches(series)),
            first=times[0],
            last=times[-1],
        )

    return examine(deploy(), read, chosen, lambda: DEPLOY_AT)


@pytest.mark.parametrize(
    ("step", "settings", "named"),
    [
        (360.0, {"window": 10800.0}, "engine.max_gap (5m)"),
        (360.0, {"window": 10800.0, "engine": "classic"}, "engine.max_gap (5m)"),
        (900.0, {"window": 7200.0, "max_gap": 1800.0}, "engine.min_samples (10)"),
        (60.0, {"window": 300.0}, "set engine.window to 11m"),
        (60.0, {"rate": 0.01}, "engine.min_calls (100)"),
    ],
)
def test_a_verdict_that_no_query_could_have_names_the_setting(step, settings, named):
    report = judged(step, **settings)

    assert report.decision.kind is DecisionKind.UNDECIDED
    assert report.decision.reason is Reason.UNUSABLE_SETTINGS
    assert named in report.quality.obstacle
    draft = draft_of(report)
    assert "pgverdict-outcome:undecided" in draft.tags
    assert named in draft.text


def test_a_verdict_that_some_query_has_names_none():
    report = judged(60.0)

    assert report.quality.obstacle == ""
    assert report.decision.kind is DecisionKind.CLEAR
