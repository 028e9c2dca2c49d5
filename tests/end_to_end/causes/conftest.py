"""The recording that all tests of this package ask about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .world import Recording, recorded


@pytest.fixture(scope="package")
def recording() -> Iterator[Recording]:
    """A minute and a half of five servers."""
    with recorded() as recording:
        yield recording
