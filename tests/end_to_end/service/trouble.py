"""What Prometheus may answer instead of counters, and a service that met all of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from lab.faults import Fault
from lab.grafana import Grafana
from lab.relay import Relay

from ..recording.stored import Recording
from .watching import Watch, watching

PATH = "/api/v1/series"  # the first that is asked about a deploy
TIMEOUT = 5.0


def _error(kind: str, words: str) -> dict[str, str]:
    return {"status": "error", "errorType": kind, "error": words}


_PARTIAL = {"warnings": ["store db-2 is down"]}
# The answer, which is given as often as anybody asks, and some words of the complaint.
FAULTS = {
    "400": (
        Fault(400, _error("bad_data", "invalid parameter")),
        "answered 400 Bad Request: bad_data: invalid parameter",
    ),
    "422": (
        Fault(422, _error("execution", "too many samples"), times=0),
        "answered 422 Unprocessable Entity: execution: too many samples",
    ),
    "503": (
        Fault(503, _error("timeout", "query timed out"), times=0),
        "answered 503 Service Unavailable: timeout: query timed out (tried 3 times)",
    ),
    "a page of HTML": (
        Fault(200, "<html><title>Sign in</title></html>"),
        "something that is not JSON: an HTML page, “Sign in”",
    ),
    "half a body": (
        Fault(200, '{"status":"success","data":[]}', half=True, times=0),
        "broke off in the middle of its answer (tried 3 times)",
    ),
    "warnings": (
        Fault(200, _PARTIAL, stored=True),
        "are partial, so nothing is concluded from them: store db-2 is down",
    ),
    "silence": (
        Fault(delay=2 * TIMEOUT, times=0),
        f"sent nothing for {TIMEOUT:g} s",
    ),
}
# Given once, these are made up for by a smaller question.
CURED = ("422", "503", "half a body", "silence")
# What a deploy meets once in the service, and is tried again after.
MET = {name: FAULTS[name] for name in FAULTS if name not in CURED}


@dataclass(frozen=True, slots=True)
class Trouble:
    """A service whose Prometheus gave each deploy another of the faults.

    Args:
        deploys: annotation ids, in the order of the faults that are met.
        at: about when all of them were, Unix seconds.
    """

    watch: Watch
    deploys: tuple[int, ...]
    at: float


@contextmanager
def in_trouble(recording: Recording) -> Iterator[Trouble]:
    """Start the service; each deploy is tried again after it met its fault."""
    faults = [replace(fault, path=PATH) for fault, _ in MET.values()]
    with (
        Grafana() as grafana,
        Relay(recording.backends["prometheus-2"], *faults) as relay,
    ):
        # Deploys are judged in the order of their times.
        deploys = tuple(
            grafana.post_deploy(at=recording.truth.at + 0.001 * place)
            for place in range(len(MET))
        )
        with watching(
            recording, grafana, url=relay.url, timeout=f"{TIMEOUT:g}s"
        ) as watch:
            yield Trouble(watch, deploys, recording.truth.at)
