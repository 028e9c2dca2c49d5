"""What a check reports about the scrapes in Prometheus."""

from __future__ import annotations

import pytest

from evaluator.sources.prometheus import PrometheusSource
from evaluator.transport.client import Client
from lab.faults import FaultServer

from ..prometheus_answers import answer, calls, listed, seconds
from .prometheus_reading import BOTH, END, PROFILE, SOME, START


def check(*faults, now):
    with FaultServer(*faults) as server, Client("prometheus", server.url) as client:
        return PrometheusSource(client, PROFILE).check(now)


def test_a_check_reports_how_many_queries_are_scraped_and_how_often():
    ids = ("1", "2")
    samples = [(START + 15.0 * step, str(step)) for step in range(20)]

    found = check(
        listed(*((name, one) for one in ids for name in BOTH)),
        answer(*(calls(*samples, queryid=one) for one in ids)),
        answer(*(seconds(*samples, queryid=one) for one in ids), warnings=["hm"]),
        now=samples[-1][0] + 4,
    )

    assert found.queries == 2
    assert found.scrape_interval == pytest.approx(15)
    assert found.newest_age == pytest.approx(4)
    assert found.warnings == ("hm",)
    assert found.problems == ()


def test_a_check_reports_that_scraping_has_stopped():
    found = check(
        listed(*BOTH), answer(calls(*SOME)), answer(seconds(*SOME)), now=START + 600
    )

    assert (
        "the newest sample is 540 s old at a scrape interval of 60 s"
        in found.problems[0]
    )


def test_a_check_reports_that_nothing_is_scraped():
    found = check(listed(), now=END)

    assert found.queries == 0
    assert found.newest_age is None
    assert (
        "fewer than two scrapes of pg_stat_statements_calls_total in"
        in found.problems[0]
    )
