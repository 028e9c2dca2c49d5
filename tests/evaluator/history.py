"""A stand-in for Prometheus that remembers counters, on a loopback port."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from evaluator.model import CounterSeries
from evaluator.sources.profiles import PROFILES
from lab.faults import Fault, Handler, Request, serving

PROFILE = PROFILES["pgverdict"]
_QUERY = re.compile(r"(?P<name>\w+)\{.*?queryid=~\"(?P<ids>.*?)\".*\}\[(?P<ms>\d+)ms\]")


@contextmanager
def remembering(
    series: Sequence[CounterSeries],
    instead: Callable[[int], Fault | None] | None = None,
) -> Iterator[str]:
    """Serve the calls and seconds of *series*; gives the address.

    Args:
        instead: what to answer instead, by the number of the request, from 0.
    """
    asked = 0

    class Answering(Handler):
        def respond(self, request: Request) -> None:
            nonlocal asked
            fault = None if instead is None else instead(asked)
            asked += 1
            (fault or Fault(body=_answer(request, series))).send(self)

    with serving(Answering) as url:
        yield url


def _answer(request: Request, series: Sequence[CounterSeries]) -> object:
    if request.path == "/api/v1/series":
        first, last = float(request.value("start")), float(request.value("end"))
        known = [one for one in series if np.any(_inside(one, first, last))]
        data: object = [_labels(name, one) for one in known for name in _NAMES]
    else:
        asked = _QUERY.fullmatch(request.value("query"))
        assert asked is not None, request.value("query")
        last = float(request.value("time"))
        first = last - float(asked["ms"]) / 1000
        wanted = re.compile(asked["ids"])
        data = {
            "resultType": "matrix",
            "result": [
                {"metric": _labels(asked["name"], one), "values": values}
                for one in series
                if wanted.fullmatch(one.key.queryid) and asked["name"] in _NAMES
                for values in [_values(asked["name"], one, first, last)]
                if values
            ],
        }
    return json.loads(json.dumps({"status": "success", "data": data}))


def capture_of(series: Sequence[CounterSeries], fingerprints: Mapping[str, str]) -> str:
    """What ``replay`` takes: the counters, and the fingerprint of each query id."""
    result = [
        {
            "metric": _labels(name, one),
            "values": _values(name, one, -np.inf, np.inf),
        }
        for one in series
        for name in _NAMES
    ]
    result += [
        {
            "metric": _labels(PROFILE.query_info, one)
            | {PROFILE.fingerprint: fingerprints[one.key.queryid]},
            "values": [(at, "1") for at in one.times.tolist()],
        }
        for one in series
    ]
    data = {"resultType": "matrix", "result": result}
    return json.dumps({"status": "success", "data": data})


def openmetrics_of(
    series: Sequence[CounterSeries], fingerprints: Mapping[str, str] = {}
) -> str:
    """What Prometheus takes as if it had scraped it."""
    lines = []
    for name in _NAMES:
        lines.append(f"# TYPE {name.removesuffix('_total')} counter")
        for one in series:
            sample = _sample(name, _labels(name, one))
            lines += [
                f"{sample} {value} {at:.3f}"
                for at, value in _values(name, one, -np.inf, np.inf)
            ]
    lines.append(f"# TYPE {PROFILE.query_info} gauge")
    for one in series:
        if fingerprint := fingerprints.get(one.key.queryid):
            labels = _labels("", one) | {PROFILE.fingerprint: fingerprint}
            lines += [
                f"{_sample(PROFILE.query_info, labels)} 1 {at:.3f}" for at in one.times
            ]
    return "\n".join([*lines, "# EOF", ""])


def _sample(name: str, labels: Mapping[str, str]) -> str:
    told = ",".join(
        f'{label}="{value}"' for label, value in labels.items() if label != "__name__"
    )
    return f"{name}{{{told}}}"


_NAMES = {PROFILE.calls: "calls", PROFILE.seconds: "seconds"}


def _inside(series: CounterSeries, first: float, last: float) -> np.ndarray:
    return (series.times >= first) & (series.times <= last)


def _values(
    name: str, series: CounterSeries, first: float, last: float
) -> list[tuple[float, str]]:
    inside = _inside(series, first, last)
    column = getattr(series, _NAMES[name])[inside]
    return [
        (round(at, 3), repr(value))
        for at, value in zip(
            series.times[inside].tolist(), column.tolist(), strict=True
        )
    ]


def _labels(name: str, series: CounterSeries) -> dict[str, str]:
    key = series.key
    return {
        "__name__": name,
        "instance": key.instance,
        "datname": key.database,
        "user": key.user,
        "queryid": key.queryid,
        "toplevel": key.toplevel,
    }
