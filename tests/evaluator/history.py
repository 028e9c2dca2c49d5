"""Counters written down as Prometheus answers them, and as it reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from evaluator.sources.profiles import PROFILES
from tests.builders import Counters

PROFILE = PROFILES["pgverdict"]
_NAMES = {PROFILE.calls: "calls", PROFILE.seconds: "seconds"}


def capture_of(series: Sequence[Counters], fingerprints: Mapping[str, str]) -> str:
    """What ``replay`` takes: the counters, and the fingerprint of each query id."""
    result = [
        {
            "metric": _labels(name, one),
            "values": _values(name, one),
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
    series: Sequence[Counters], fingerprints: Mapping[str, str] = {}
) -> str:
    """What Prometheus takes as if it had scraped it; squares where they are known."""
    lines = []
    for name in (*_NAMES, PROFILE.squares):
        lines.append(f"# TYPE {name.removesuffix('_total')} counter")
        for one in series:
            if name == PROFILE.squares and one.squares is None:
                continue
            sample = _sample(name, _labels(name, one))
            lines += [f"{sample} {value} {at:.3f}" for at, value in _values(name, one)]
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


def _values(name: str, series: Counters) -> list[tuple[float, str]]:
    values = getattr(series, _NAMES.get(name, "squares")).tolist()
    return [
        (round(at, 3), repr(value))
        for at, value in zip(series.times.tolist(), values, strict=True)
    ]


def _labels(name: str, series: Counters) -> dict[str, str]:
    key = series.key
    return {
        "__name__": name,
        "instance": key.instance,
        "datname": key.database,
        "user": key.user,
        "queryid": key.queryid,
        "toplevel": key.toplevel,
    }
