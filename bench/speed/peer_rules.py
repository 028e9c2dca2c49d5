"""Times the peers' rules; run by an interpreter that has them, see bench/peers.py.

``python peer_rules.py SERIES.npz``: then one line in, ``rule array count``, gives one
line out: CPU seconds for the first *count* series of *array*, and how many of them the
rule blames on the deploy in the middle. Imports nothing of ours.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Rule = Callable[[Any], list[int]]


def otava() -> Rule:
    """Apache Otava with its defaults: search in windows, merge, t-test."""
    compute = importlib.import_module("otava.analysis").compute_change_points
    return lambda series: [change.index for change in compute(series)[0]]


def ruptures(method: str, **options: Any) -> Rule:
    """A search of ruptures, penalty 3 s² log n; it has no test of significance."""
    search = getattr(importlib.import_module("ruptures"), method)

    def rule(series: Any) -> list[int]:
        values = np.array(series)
        # From differences: a change of level must not count as noise.
        variance = np.median(np.diff(values) ** 2) / 0.91
        least = max(3, values.size // 10)
        found = search(min_size=least, jump=1, **options).fit(values[:, None])
        return list(found.predict(pen=3 * variance * np.log(values.size))[:-1])

    return rule


RULES: dict[str, Callable[[], Rule]] = {
    "otava": otava,
    "ruptures-kernel": lambda: ruptures("KernelCPD", kernel="linear"),
    "ruptures-pelt": lambda: ruptures("Pelt", model="l2"),
}


def main() -> None:
    """Answer until the input ends."""
    arrays = np.load(sys.argv[1])
    made: dict[str, Rule] = {}
    for line in sys.stdin:
        name, array, count = line.split()
        rule = made.setdefault(name, RULES[name]())
        rows = arrays[array][: int(count)].tolist()
        middle, reach = len(rows[0]) / 2, len(rows[0]) / 10
        started = time.process_time()
        found = [rule(row) for row in rows]
        took = time.process_time() - started
        blamed = sum(any(abs(i - middle) <= reach for i in one) for one in found)
        sys.stdout.write(f"{took} {blamed}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
