"""What each part of the noise buys: the scenes with one part off at a time.

``python -m bench.ablation``; a part is off where its function is replaced by one that
does nothing. Judged once, at the end of the window; what is counted is detected.
"""

from __future__ import annotations

import os

# Before NumPy is loaded: one core for each process.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from typing import Any
from unittest.mock import patch

import numpy as np

from evaluator.engine import judge
from evaluator.engine.noise import model
from evaluator.engine.noise.common_factor import column_medians
from evaluator.engine.noise.shared import factors, groups, removal
from evaluator.engine.noise.shared.empirical_null import EmpiricalNull
from evaluator.engine.noise.shared.events import Events
from evaluator.engine.noise.shared.jump import measure_jump
from evaluator.engine.noise.slope import Slopes
from evaluator.model import Flags, Floats, Outcome, Panel, Settings

from .scenes.catalogue import SCENES
from .scenes.counters import make
from .tables import table

SETTINGS = Settings()
SHOWN = (
    *("quiet", "8 groups", "2 groups", "locks", "hourly cycle", "traffic ramp"),
    *("restart", "backup near", "one table", "a day"),
)


def _medians(panel: Panel, rest: Floats, reference: Flags) -> Floats:
    middle = column_medians(rest[reference], panel.calls[reference])
    centred: Floats = middle - np.median(middle[: panel.before])
    return centred


def _sure_only(found: Any, sure: Flags) -> tuple[Floats, Floats]:
    return sure.astype(np.float64), found.variance


def _no_jump(*given: Any, **where: Any) -> Any:
    return replace(measure_jump(*given, **where), abrupt=False)


def _no_events(values: Floats, *_: Any) -> Events:
    return Events(np.full(len(values), -1), np.zeros(len(values), dtype=bool))


def _no_slopes(values: Floats, *_: Any, **__: Any) -> Slopes:
    c = len(values)
    nothing = np.zeros(c, dtype=np.intp)
    return Slopes(np.zeros(c, dtype=bool), nothing, np.full(c, np.inf))


def _no_transient(values: Floats, *_: Any) -> Any:
    return np.zeros(len(values), dtype=np.intp)


Replaced = tuple[Any, str, Callable[..., Any]]
PARTS: Mapping[str, Sequence[Replaced]] = {
    "all parts": (),
    "without factors": ((groups, "learn_factors", lambda *_: None),),
    "a threshold instead of the posterior": ((factors, "posterior", _sure_only),),
    "no jump is abrupt": (
        (groups, "measure_jump", _no_jump),
        (removal, "measure_jump", _no_jump),
    ),
    "the median instead of the mode": ((removal, "common_path", _medians),),
    "without events elsewhere": ((model, "events_elsewhere", _no_events),),
    "without the empirical null": (
        (model, "empirical_null", lambda _: EmpiricalNull()),
    ),
    "without slopes": ((model, "find_slopes", _no_slopes),),
    "without transients": ((model, "passed_intervals", _no_transient),),
    "without growing noise": (
        (model, "added_variance", lambda values, *_: np.zeros(len(values))),
    ),
}


def one_deploy(part: str, name: str, seed: int, deploy: int) -> tuple[int, float]:
    """False alarms, and the share detected of the queries half as slow again."""
    number = list(SCENES).index(name)
    example = make(SCENES[name], [4_000 + seed, number, deploy], queries=1000)
    with ExitStack() as parts:
        for where, what, instead in PARTS[part]:
            parts.enter_context(patch.object(where, what, instead))
        verdicts = judge([example.batch], example.deploy, SETTINGS)
        found = np.array([v.outcome is Outcome.DETECTED for v in verdicts])
    truth = example.factors
    return int(np.sum(found & (truth == 1.0))), float(found[truth == 1.5].mean())


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.ablation", description=__doc__)
    parser.add_argument("--deploys", type=int, default=20, help="of each scene")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--scenes", nargs="+", default=SHOWN, choices=SCENES)
    chosen = parser.parse_args(arguments)
    rows = []
    with get_context("fork").Pool(chosen.processes) as pool:
        for part in PARTS:
            cells = []
            for name in chosen.scenes:
                work = partial(one_deploy, part, name, chosen.seed)
                alarms, powers = zip(
                    *pool.map(work, range(chosen.deploys), chunksize=1), strict=True
                )
                cells.append(
                    f"{np.mean(alarms):.1f} ({max(alarms)}) / {np.mean(powers):.2f}"
                )
            rows.append((part, *cells))
    print(table(("", *chosen.scenes), rows))


if __name__ == "__main__":
    main()
