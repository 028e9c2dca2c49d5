"""Services that many tests ask about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..recording.stored import Recording
from .trouble import Trouble, in_trouble


@pytest.fixture(scope="package")
def troubled(recording: Recording) -> Iterator[Trouble]:
    """A service that meets every fault of Prometheus, and has to wait a minute then."""
    with in_trouble(recording) as trouble:
        yield trouble
