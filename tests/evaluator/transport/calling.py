"""One call to a loopback server that fails on purpose, and how it ends."""

from __future__ import annotations

import pytest

from evaluator.errors import SourceError, UnsureWriteError
from evaluator.transport.client import Client
from lab.faults import Fault, FaultServer, time_outs

OK = Fault(body={"ok": True})
TOKEN = "glsa_Zx81LongAndSecret"  # noqa: S105 - made up


class Naps:
    """A sleep that only records how long it should have slept."""

    def __init__(self):
        self.seconds = []

    def __call__(self, seconds):
        self.seconds.append(seconds)


def client(server, **settings):
    settings.setdefault("sleep", Naps())
    settings.setdefault("timeout", time_outs())
    return Client("grafana", server.url, **settings)


def read_error(*faults, **settings):
    """The message a read ends with."""
    settings.setdefault("timeout", time_outs(*faults))
    with (
        FaultServer(*faults) as server,
        client(server, **settings) as http,
        pytest.raises(SourceError) as caught,
    ):
        http.get("/api/x")
    assert not isinstance(caught.value, UnsureWriteError)
    return str(caught.value)


def write_error(*faults, **settings):
    """The error a write ends with, and how often it was sent."""
    settings.setdefault("timeout", time_outs(*faults))
    with (
        FaultServer(*faults) as server,
        client(server, **settings) as http,
        pytest.raises(SourceError) as caught,
    ):
        http.post_json("/api/x", {"text": "x"})
    return caught.value, len(server.requests)
