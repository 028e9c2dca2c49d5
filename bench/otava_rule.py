"""Apache Otava with its defaults over many series; run by an interpreter that has it.

Usage: ``python otava_rule.py series.npy deploy tolerance`` with (s, n) values; prints
for each series 1 when an upward change point lies within the tolerance, else 0.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np


def blames(series: Any, deploy: int, tolerance: float) -> bool:
    analysis = importlib.import_module("otava.analysis")
    changes, _ = analysis.compute_change_points(list(map(float, series)))
    return any(
        abs(change.index - deploy) <= tolerance
        and change.stats.mean_2 > change.stats.mean_1
        for change in changes
    )


def main() -> None:
    values = np.load(sys.argv[1])
    deploy, tolerance = int(sys.argv[2]), float(sys.argv[3])
    found = (blames(series, deploy, tolerance) for series in values)
    sys.stdout.write("".join("1" if one else "0" for one in found))


if __name__ == "__main__":
    main()
