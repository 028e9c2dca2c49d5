"""One recording for all tests of a run, whichever process runs them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from lab.cache import once
from tests.conftest import prometheus_3

from .recording.stored import BACKENDS, Recording, kept, record


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    """An hour of seven jobs; the first process that asks makes it for all."""
    base = tmp_path_factory.getbasetemp()
    # The processes of pytest-xdist have folders of their own side by side.
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    with kept(once("recording", record, base)) as recording:
        yield recording


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """The name of each kind of server; see `tests.conftest.prometheus_3`."""
    name: str = request.param
    if name == "prometheus-3":
        prometheus_3()
    return name
