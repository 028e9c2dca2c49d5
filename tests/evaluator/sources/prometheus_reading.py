"""One reading of the source from given answers, and how it ends."""

from __future__ import annotations

import pytest

from evaluator.errors import SourceError
from evaluator.sources.profiles import PROFILES
from evaluator.sources.prometheus import PrometheusSource
from evaluator.transport.client import Client
from lab.faults import FaultServer, time_outs

PROFILE = PROFILES["pgverdict"]
START, END = 1790000000.123, 1790003600.123
BOTH = (PROFILE.calls, PROFILE.seconds)
SOME = [(START, "1"), (START + 60, "2")]


def no_sleep(seconds):
    pass


def read(*faults, selector='job="postgres"', chunk=200, **more):
    """What the source makes of these answers, and what it asked for."""
    with FaultServer(*faults) as server:
        client = Client(
            "prometheus", server.url, timeout=time_outs(*faults), sleep=no_sleep
        )
        with client:
            source = PrometheusSource(client, PROFILE, selector, chunk)
            return source.read(START, END, **more), server.requests


def error(*faults) -> str:
    with pytest.raises(SourceError) as caught:
        read(*faults)
    assert "127.0.0.1" in str(caught.value)
    return str(caught.value)
