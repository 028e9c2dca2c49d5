"""A stretch without scrapes that holds the deploy: found or undecided, never clear."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.model import Outcome, Report, Settings
from tests.builders import DEPLOY_AT, counters, deploy, noise
from tests.queries import judged

MINUTES = np.arange(300) - 270


def series(rng, factor, *, gap, queryid):
    """Four and a half hours before and half an hour after, one scrape a minute.

    Args:
        gap: (first, last) minutes around the deploy in which nothing was scraped.
    """
    means = 0.01 * noise(rng, 300) * np.where(MINUTES < 0, 1.0, factor)
    whole = counters(
        means, queryid=queryid, at=DEPLOY_AT - 60.0 * 120
    )  # counters() puts half of its intervals before its moment.
    unseen = (whole.times > DEPLOY_AT + 60.0 * gap[0]) & (
        whole.times < DEPLOY_AT + 60.0 * gap[1]
    )
    return replace(
        whole,
        calls=np.where(unseen, np.nan, whole.calls),
        seconds=np.where(unseen, np.nan, whole.seconds),
    )


def report(factor, gap, engine, *, queries=5):
    rng = np.random.default_rng(7)
    many = [
        series(rng, factor if number == 0 else 1.0, gap=gap, queryid=str(number))
        for number in range(queries)
    ]
    settings = Settings(engine=engine)
    return Report(
        deploy(), DEPLOY_AT, settings, tuple(judged(many, deploy(), settings))
    )


@pytest.mark.parametrize("engine", ["classic", "calibrated"])
@pytest.mark.parametrize(
    "gap", [(0, 8), (-3, 7), (-10, 12), (1, 12), (4, 15), (-15, 3), (0, 18)]
)
def test_a_change_in_a_gap_that_may_be_the_deploys_is_found(gap, engine):
    found = report(3.0, gap, engine)

    assert found.verdicts[0].outcome is Outcome.DETECTED
    assert found.decision.kind == "regressed"


@pytest.mark.parametrize("engine", ["classic", "calibrated"])
@pytest.mark.parametrize("gap", [(0, 22), (-25, 1), (-5, 29)])
def test_a_gap_that_leaves_too_little_is_undecided(gap, engine):
    found = report(3.0, gap, engine)

    assert found.verdicts[0].outcome is Outcome.INSUFFICIENT_DATA
    assert found.decision.kind == "undecided"


@pytest.mark.parametrize("engine", ["classic", "calibrated"])
def test_without_a_change_a_gap_is_clear(engine):
    assert report(1.0, (0, 8), engine).decision.kind == "clear"


@pytest.mark.parametrize("engine", ["classic", "calibrated"])
def test_a_change_long_after_the_gap_is_not_the_deploys(engine):
    rng = np.random.default_rng(7)
    means = 0.01 * noise(rng, 300) * np.where(MINUTES < 12, 1.0, 3.0)
    whole = counters(means, at=DEPLOY_AT - 60.0 * 120)
    unseen = (whole.times > DEPLOY_AT) & (whole.times < DEPLOY_AT + 240.0)
    one = replace(whole, calls=np.where(unseen, np.nan, whole.calls))

    verdict = judged([one], deploy(), Settings(engine=engine))[0]

    assert verdict.outcome is Outcome.BACKGROUND_CHANGE
