"""Fixtures of the tests from end to end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import prometheus_3

from .trouble import Trouble, in_trouble
from .world import BACKENDS, Recording, recorded


@pytest.fixture(scope="package")
def recording() -> Iterator[Recording]:
    """Two minutes of five jobs, stored by three servers."""
    with recorded() as recording:
        yield recording


@pytest.fixture(scope="package")
def troubled(recording: Recording) -> Iterator[Trouble]:
    """A service that meets every fault of Prometheus, and has to wait a minute then."""
    with in_trouble(recording) as trouble:
        yield trouble


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """The name of each backend in turn; see `tests.conftest.prometheus_3`."""
    name: str = request.param
    if name == "prometheus-3":
        prometheus_3()
    return name
