"""Fixtures that more than one package of tests needs."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from lab import fetch
from lab.postgres import Postgres

# How long an example takes depends on what else the machine does.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put first what is quick, then what others would have to wait for.

    Most mistakes show within seconds then. Of the rest, the chain that is followed in
    real time comes first, and the file whose tests make the recording; the other tests
    that need it come last, when it is there.
    """
    live = {item.path for item in items if item.get_closest_marker("live")}
    recorded = [item.path for item in items if "recording" in _fixtures(item)]

    def place(item: pytest.Item) -> int:
        if not any(map(item.get_closest_marker, ("servers", "statistical"))):
            return 0
        if item.path in live:
            return 1
        if item.path not in recorded:
            return 3
        return 2 if item.path == recorded[0] else 4

    items.sort(key=place)


def _fixtures(item: pytest.Item) -> list[str]:
    return getattr(item, "fixturenames", [])


def pytest_configure() -> None:
    """Let Ctrl-C be Ctrl-C, in us and in what we start.

    A shell that runs us in the background has SIGINT ignored, and so would all our
    children; several tests interrupt them.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One PostgreSQL for tests that leave its settings and its life alone."""
    with Postgres() as server:
        yield server


def prometheus_3() -> fetch.Tool:
    """A current Prometheus; without Go a failure in CI, a skip elsewhere."""
    if fetch.go() is None:
        reason = "Go is not on PATH, so no current Prometheus can be built"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return fetch.prometheus_3()
