"""How many queries a second the engines judge, beside Apache Otava and ruptures.

``python -m bench.speed.engine``.

Everybody gets the same interval means and uses one core;
what counts is CPU time. Timed are, of ours, the engine's own functions on arrays, from
interval means to who is detected: floors, pre-filter, search, tolerance and Welch's
test (classic), or the chance of the whole rule and q-values (calibrated). Then
``judge`` as a whole, from counters to the columns with every number of every verdict;
and the same with a verdict object made of each row, causes and all, as a sink asks for
them. Of Otava,
``compute_change_points`` with its defaults on a list: search in windows, merge, t-test.
Of ruptures, ``fit`` and ``predict``; it has no test. Making the input is timed for
nobody.
"""

from __future__ import annotations

import os

# Before NumPy is loaded: one core each.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import argparse
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from .. import peers
from ..tables import against, circumstances, table
from .engines import ENGINES, Input, mix, worst

LENGTHS = (60, 240)
# Times as fast as Otava, by the number of intervals: from counters to verdicts.
GOALS = {60: 100, 240: 50}
# Part of the pace of the bare arrays that is left.
PACE_GOAL = 0.6
CASES: Mapping[str, Callable[[int, int], Input]] = {"worst case": worst, "mix": mix}
# Series for each peer and round: some of them are slow.
PEERS = {"otava": 150, "ruptures-kernel": 500, "ruptures-pelt": 5}
GROWTH_N = (20, 60, 120, 240, 500)
GROWTH_S = (10, 100, 1000, 5000)


class Peers:
    """The peers in a process of their own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def rate(self, rule: str, array: str, count: int) -> tuple[float, float]:
        """Series a second, and which share of them is blamed on the deploy."""
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        assert self._process.stdout is not None  # noqa: S101 - a pipe
        self._process.stdin.write(f"{rule} {array} {count}\n")
        self._process.stdin.flush()
        took, blamed = self._process.stdout.readline().split()
        return count / float(took), int(blamed) / count


@contextmanager
def peers_with(arrays: Mapping[str, Input]) -> Iterator[Peers]:
    """Start the peers and give them the interval means."""
    script = Path(__file__).with_name("peer_rules.py")
    with tempfile.TemporaryDirectory(prefix="bench-engine-") as folder:
        file = Path(folder) / "series.npz"
        means: dict[str, Any] = {name: given.means for name, given in arrays.items()}
        np.savez(file, **means)
        with subprocess.Popen(
            [str(peers.python()), str(script), str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            yield Peers(process)


def rate(engine: Callable[[Input], int], given: Input) -> tuple[float, float]:
    """Series a second, and which share of them is detected."""
    s = len(given.means)
    started = time.process_time()
    runs = detected = 0
    while runs == 0 or time.process_time() - started < 0.05:
        detected = engine(given)
        runs += 1
    return runs * s / (time.process_time() - started), detected / s


def beside(
    inputs: Mapping[str, Input], names: Mapping[str, tuple[str, int]], rounds: int
) -> str:
    """Time everybody in turn; medians of the rounds.

    Args:
        names: for each of *inputs* its case and length.
    """
    rates: dict[tuple[str, str], list[float]] = defaultdict(list)
    shares: dict[tuple[str, str], float] = {}
    with peers_with(inputs) as others:
        for _, (array, given) in product(range(rounds), inputs.items()):
            for who, engine in ENGINES.items():
                found, shares[array, who] = rate(engine, given)
                rates[array, who].append(found)
            for who, count in PEERS.items():
                few = min(count, len(given.means))
                found, shares[array, who] = others.rate(who, array, few)
                rates[array, who].append(found)
    rows = []
    for array, (case, n) in names.items():
        medians = {who: median(rates[array, who]) for who in (*ENGINES, *PEERS)}
        for who, found in medians.items():
            ratio = found / medians["otava"]
            rows.append(
                (
                    case,
                    f"{n}",
                    who,
                    f"{found:,.0f}",
                    f"{100 * shares[array, who]:.1f} %",
                    f"{ratio:.2g}×" if ratio < 10 else f"{ratio:.0f}×",
                    *_goal(who, n, medians),
                )
            )
    head = ["case", "intervals", "rule", "series/s", "blamed on the deploy"]
    return table([*head, "beside Otava", "goal", ""], rows)


def _goal(who: str, n: int, medians: Mapping[str, float]) -> tuple[str, str]:
    """Of ``judge`` as a whole: times Otava's pace, and part of the arrays'."""
    arrays = who.removeprefix("judge, ")
    if who == arrays or arrays != "calibrated":
        return "", ""
    goal = max(GOALS[n], PACE_GOAL * medians[arrays] / medians["otava"])
    return against(round(medians[who] / medians["otava"]), round(goal), at_least=True)


def growth(series: int, most: int) -> str:
    """Series a second by length and by number, worst case."""
    shapes = [(series, n) for n in GROWTH_N] + [(s, 60) for s in GROWTH_S if s <= most]
    rows = []
    for s, n in shapes:
        given = worst(s, n)
        cells = [f"{rate(engine, given)[0]:,.0f}" for engine in ENGINES.values()]
        rows.append((f"{s:,}", f"{n}", *cells))
    return table(["series", "intervals", *ENGINES], rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.speed.engine", description=__doc__)
    parser.add_argument("--series", type=int, default=1000)
    parser.add_argument("--most", type=int, default=5000, help="series, in the growth")
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args(arguments)
    names = {f"{case[0]}{n}": (case, n) for case, n in product(CASES, LENGTHS)}
    inputs = {name: CASES[case](chosen.series, n) for name, (case, n) in names.items()}
    print(circumstances())
    print(f"\n### {chosen.series:,} series, medians of {chosen.rounds} rounds\n")
    print(beside(inputs, names, chosen.rounds), flush=True)
    print("\n### Growth, series a second\n")
    print(growth(chosen.series, chosen.most))


if __name__ == "__main__":
    main()
