"""A deploy slows a whole PostgreSQL at once: one finding, and its headline says so."""

from __future__ import annotations

import re
import time

import pytest

from lab import fetch, shop
from lab.history import backfill
from lab.postgres import Postgres
from lab.prometheus import Prometheus
from lab.rounds import Rounds
from lab.timelapse import STEP, Scrapes, openmetrics
from lab.workload import SETTINGS, create_shop

from ..commands import evaluator, write
from ..recording.server import exporting

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

# Two hours of history before the window, and half an hour on each side.
BEFORE, AFTER = round(9000 / STEP), round(1800 / STEP)
QUERIES = 44
# What every statement waits before and after, whole milliseconds as pg_sleep counts.
WAIT, LONGER = 0.004, 0.006


def statement(number: int) -> shop.Statement:
    """One of many that all wait as long as a setting of the server says."""
    columns = ", ".join(["id"] * (number + 1))
    return shop.Statement(
        f"columns {number}",
        f"SELECT {columns}, pg_sleep(current_setting('shop.delay')::float8) "  # noqa: S608
        "FROM orders WHERE id = %(value)s + 1",
        1000,
    )


def set_delay(server: Postgres, seconds: float) -> None:
    server.execute(f"ALTER SYSTEM SET shop.delay = '{seconds}'")
    server.execute("SELECT pg_reload_conf()")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slower")
    with Postgres(settings=SETTINGS) as server:
        create_shop(server)
        server.create_monitor()
        server.execute("CREATE EXTENSION pg_stat_statements", database=shop.DATABASE)
        set_delay(server, WAIT)
        dsn = server.dsn_for(shop.USER, shop.PASSWORD, shop.DATABASE)
        statements = tuple(statement(number) for number in range(QUERIES))
        with (
            exporting(server) as exporter,
            Rounds(dsn, statements, calls=1, clients=8) as rounds,
        ):
            scrapes = Scrapes("shop", f"{exporter.url}/metrics")
            for number in range(-4, BEFORE + AFTER + 1):
                if number == BEFORE:
                    set_delay(server, LONGER)
                rounds.run()
                if number >= 0:
                    scrapes.take()
    end = float(int(time.time()))
    prometheus = Prometheus(fetch.debian_tool("prometheus"))
    backfill(prometheus, openmetrics([scrapes], end))
    with prometheus:
        config = {
            "prometheus": {
                "url": prometheus.url,
                "selector": f'datname="{shop.DATABASE}",user="{shop.USER}"',
            }
        }
        at = end - STEP * (AFTER + 0.5)
        ended = evaluator(
            *("deploy", "--at", f"{at:.3f}", "--format", "json"),
            config=write(folder, config),
        )
    assert ended.complaint == ""
    return ended.report


def test_the_headline_says_that_the_server_slowed_down(report):
    assert report["decision"]["kind"] == "regressed"
    assert report["decision"]["reason"] == "server_slowed"
    assert re.fullmatch(r"server shop slowed by ×1\.\d\d", report["decision"]["text"])


def test_the_finding_has_its_size_and_explains_the_queries(report):
    (rise,) = report["effects"]["shared"]

    assert rise["whole"]
    assert rise["queries"] >= 0.9 * QUERIES
    # A wait is up to a millisecond longer, and each call takes some time besides.
    assert 1.25 < rise["factor"]["value"] < 1.9
    assert rise["largest_before"] < rise["factor"]["value"]
    slower = [one for one in report["queries"] if one["verdict"] == "detected"]
    assert len(rise["explained"]) >= 0.9 * len(slower)
    assert rise["external_causes"] == []
