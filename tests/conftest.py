"""Fixtures that more than one package of tests needs."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from lab import fetch
from lab.postgres import Postgres


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs no server comes first: most mistakes are told within seconds."""
    items.sort(key=lambda item: item.get_closest_marker("servers") is not None)


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
