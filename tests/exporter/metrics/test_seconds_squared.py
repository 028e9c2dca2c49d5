"""Is calls · (stddev² + mean²) a counter, and how exact are its increments?

On real servers it never decreased and was exact to nine digits. It is off by default
all the same: once an entry has a history of calls thousands of times slower than the
current ones, rounding is larger than an increment, and a counter that decreases looks
like a restart.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import pairwise

import psycopg
import pytest

from exporter.metrics.counters import DEFAULT_COUNTERS
from lab.postgres import Postgres

from ..exporting import Exporter, exporting

SECONDS = "pg_stat_statements_seconds_total"
SQUARED = "pg_stat_statements_seconds_squared_total"
COUNTERS = "--statements.counters=calls,seconds,seconds_squared"


def seconds_of(exporter: Exporter, user: str) -> tuple[float, float]:
    """Seconds and squared seconds of the only statement of *user*."""
    by_name = {
        name: value
        for (name, labels), value in exporter.scrape().items()
        if dict(labels).get("user") == user
    }
    return by_name[SECONDS], by_name[SQUARED]


def calls_of(server: Postgres) -> Iterator[None]:
    """One statement many times, mostly quick, sometimes a hundred times slower."""
    rng = random.Random(1)  # noqa: S311 - a load, not a secret
    dsn = server.dsn_for(user="app")
    with psycopg.connect(dsn, autocommit=True) as connection:
        for _ in range(100):
            rows = 20_000 if rng.random() < 0.05 else 100
            connection.execute("SELECT count(*) FROM generate_series(1, %s)", [rows])
            yield


@pytest.mark.servers
@pytest.mark.parametrize("version", ["14", "17", "18"])
def test_on_real_servers_it_never_decreases_and_each_increment_is_exact(
    version: str,
) -> None:
    with Postgres(version) as server:
        server.execute("CREATE ROLE app LOGIN PASSWORD 'lab'")
        with exporting(server.dsn, COUNTERS) as exporter:
            read = [seconds_of(exporter, "app") for _ in calls_of(server)]

    for (time, squared), (time_after, squared_after) in pairwise(read):
        call = time_after - time
        assert squared_after > squared
        assert squared_after - squared == pytest.approx(call**2, rel=1e-6)


def test_it_is_not_shown_by_default() -> None:
    assert "seconds_squared" not in DEFAULT_COUNTERS


class Entry:
    """Mean and deviation as pg_stat_statements keeps them (Welford's method), in ms."""

    def __init__(self) -> None:
        self.calls = 0
        self.mean = self.variance_sum = 0.0

    def call(self, milliseconds: float) -> float:
        """Count one call and return what the exporter then shows, s²."""
        self.calls += 1
        before = self.mean
        self.mean += (milliseconds - before) / self.calls
        self.variance_sum += (milliseconds - before) * (milliseconds - self.mean)
        deviation = math.sqrt(self.variance_sum / self.calls)
        return self.calls * (deviation**2 + self.mean**2) / 1e6


def decreases(*phases: tuple[int, float]) -> int:
    """How often it decreases over phases of (number of calls, typical milliseconds)."""
    rng = random.Random(1)  # noqa: S311 - a load, not a secret
    entry = Entry()
    shown = [
        entry.call(typical * rng.lognormvariate(0, 0.5))
        for number, typical in phases
        for _ in range(number)
    ]
    return sum(after < before for before, after in pairwise(shown))


def test_a_steady_statement_never_makes_it_decrease() -> None:
    assert decreases((100_000, 0.02)) == 0


def test_a_long_slow_history_makes_it_decrease() -> None:
    """Why it is off by default: a day of 1 s calls, then calls of 0.02 ms."""
    assert decreases((100_000, 1000.0), (100_000, 0.02)) > 0
