"""A world, a ledger that remembers nothing, and the service between them."""

from __future__ import annotations

import pytest

from evaluator.service.ledger import Ledger

from .world import World


@pytest.fixture
def world():
    return World()


@pytest.fixture
def ledger():
    with Ledger(":memory:") as ledger:
        yield ledger


@pytest.fixture
def service(world, ledger):
    return world.service(ledger)
