"""What Prometheus would answer, in one readable line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluator.sources.profiles import PROFILES
from lab.faults import Fault

PROFILE = PROFILES["pgverdict"]
QUERY, SERIES = "/api/v1/query", "/api/v1/series"


def labels(metric: str, queryid: str = "1", **more: str) -> dict[str, str]:
    return {
        "__name__": metric,
        "instance": "db1:9719",
        "job": "postgres",
        "datname": "shop",
        "user": "app",
        "queryid": queryid,
        "toplevel": "true",
        **more,
    }


def series(
    metric: str, *samples: tuple[float, str], queryid: str = "1", **more: str
) -> dict[str, object]:
    """One series of a matrix; values are texts, as in the real answer."""
    return {"metric": labels(metric, queryid, **more), "values": [*map(list, samples)]}


def calls(*samples: tuple[float, str], **more: str) -> dict[str, object]:
    return series(PROFILE.calls, *samples, **more)


def seconds(*samples: tuple[float, str], **more: str) -> dict[str, object]:
    return series(PROFILE.seconds, *samples, **more)


def since(*samples: tuple[float, str], **more: str) -> dict[str, object]:
    return series(PROFILE.since, *samples, **more)


def squares(*samples: tuple[float, str], **more: str) -> dict[str, object]:
    return series(PROFILE.squares, *samples, **more)


def success(data: object, **more: object) -> dict[str, object]:
    return {"status": "success", "data": data, **more}


def matrix(*result: Mapping[str, object], **more: object) -> dict[str, object]:
    return success({"resultType": "matrix", "result": list(result)}, **more)


def rows(*samples: tuple[float, str], **more: str) -> dict[str, object]:
    return series(PROFILE.rows, *samples, **more)


def blocks(
    hit: Sequence[tuple[float, str]], read: Sequence[tuple[float, str]], **more: str
) -> list[dict[str, object]]:
    """Both counters of shared blocks."""
    return [
        series(PROFILE.blocks_hit, *hit, **more),
        series(PROFILE.blocks_read, *read, **more),
    ]


def listed(*metrics: Sequence[str] | str, **more: object) -> Fault:
    """The answer that names the series of query 1, or of (metric, queryid) pairs."""
    pairs = [
        (one, "1") if isinstance(one, str) else (one[0], one[1]) for one in metrics
    ]
    return Fault(body=success([labels(*pair) for pair in pairs], **more), path=SERIES)


def answer(*result: Mapping[str, object], **more: object) -> Fault:
    return Fault(body=matrix(*result, **more), path=QUERY)
