"""Pages of an exporter as they were scraped, one line of JSON each, and as a capture.

Every line is written at once, so that a recording that is cut off is shorter, not lost.
"""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import requests

from evaluator.sources.profiles import PROFILES
from lab.process import PATIENCE

INSTANCE = "recorded:9719"
# Gauges that hold a moment as Unix time.
_MOMENT = re.compile(r"\w+_(since|start_time|stats_reset)_seconds\b")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPED = {r"\\": "\\", r"\"": '"', r"\n": "\n"}
# What the evaluator reads of a page.
_WANTED = tuple(
    f"{name}{end}" for name in PROFILES["pgverdict"].all_metrics for end in ("{", " ")
)


def scrape(url: str, file: TextIO, speed: float) -> None:
    """Append one page with the time at which it was asked for."""
    asked = time.time()
    answer = requests.get(url, timeout=PATIENCE)
    answer.raise_for_status()
    file.write(json.dumps({"asked": asked, "speed": speed, "page": answer.text}) + "\n")
    file.flush()


def write_capture(path: Path, capture: Path) -> tuple[float, float]:
    """Write what Prometheus would answer to a range selector over all of it.

    The clock of a faster recording runs *speed* times as fast from the first page on.

    Returns:
        Times of the first and the last sample, Unix seconds.
    """
    series: dict[str, list[list[object]]] = defaultdict(list)
    held = list(_pages(path))
    first, speed = float(held[0]["asked"]), float(held[0]["speed"])

    def dated(moment: float) -> float:
        return round(first + (moment - first) * speed, 3)

    for each in held:
        at = dated(each["asked"])
        for line in each["page"].splitlines():
            if line.startswith(_WANTED):
                found, _, value = line.rpartition(" ")
                if _MOMENT.match(found):
                    value = repr(dated(float(value)))
                series[found].append([at, value])
    result = [
        {"metric": _labels(found), "values": values} for found, values in series.items()
    ]
    data = {"resultType": "matrix", "result": result}
    capture.write_text(json.dumps({"status": "success", "data": data}), "utf-8")
    return first, dated(held[-1]["asked"])


def _pages(path: Path) -> Iterator[dict[str, Any]]:
    """Each scrape in its order, but for a last line cut off."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):
                yield json.loads(line)


def _labels(series: str) -> dict[str, str]:
    name, _, labels = series.partition("{")
    unescaped = {
        label: re.sub(r"\\.", lambda found: _ESCAPED[found[0]], value)
        for label, value in _LABEL.findall(labels)
    }
    return {"__name__": name, "instance": INSTANCE, "job": "recorded", **unescaped}
