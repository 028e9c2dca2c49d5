"""Print every table of docs/statistics.md: ``python -m bench.statistics``.

Seeded; some minutes on one core. ``--otava PYTHON`` names an interpreter that has
apache-otava 0.8, which is then measured beside.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import spread
from .measures import (
    Shape,
    classic_at_equal_size,
    looks,
    many_queries,
    rates,
    veto,
)
from .noise import INDEPENDENT, NAMED, UNNAMED, fixed_phi
from .tables import table
from .trials import Trial

SHAPES = {
    "60, history 240": Shape(30, 240),
    "60, no history": Shape(30, 30),
    "240, history 960": Shape(120, 960),
}
PHIS = (0.0, 0.3, 0.5, 0.7)
CVS = (0.15, 0.3, 0.5)
OTHERS = ("calls of CV 3", "tenfold traffic", "daily traffic", "heavy tails")


def sizes(draws: int, dice: int = 0) -> Iterator[tuple[str, ...]]:
    """False alarms of the p-value where nothing changes."""
    for name, shape in SHAPES.items():
        count = draws if shape.window == 30 else draws // 2
        for phi in PHIS:
            for cv in CVS:
                seed = [
                    11 + dice,
                    shape.window,
                    shape.before,
                    int(10 * phi),
                    int(100 * cv),
                ]
                found = rates(
                    fixed_phi(phi), cv=cv, shape=shape, draws=count, seed=seed
                )
                yield (
                    *(name, f"phi {phi}", f"{cv}"),
                    *(f"{found.at_05:.4f}", f"{found.at_001:.4f}"),
                    f"{found.classic:.4f}",
                )


def other_sizes(draws: int, dice: int = 0) -> Iterator[tuple[str, ...]]:
    """The same where the noise is not a log-normal autoregression."""
    for number, name in enumerate(OTHERS):
        for cv in CVS:
            found = rates(
                {**NAMED, **UNNAMED}[name],
                cv=cv,
                shape=Shape(),
                draws=draws,
                seed=[12 + dice, number, int(100 * cv)],
            )
            yield (
                *("60, history 240", name, f"{cv}"),
                *(f"{found.at_05:.4f}", f"{found.at_001:.4f}", f"{found.classic:.4f}"),
            )


def powers(draws: int, dice: int = 0) -> Iterator[tuple[str, ...]]:
    """+30 % at the deploy; the classic rule as it is, and at the calibrated size."""
    for name, shape in SHAPES.items():
        for phi in (0.0, 0.5):
            for cv in CVS:
                kind = fixed_phi(phi)
                seed = [13 + dice, shape.window, shape.before, int(10 * phi)]
                found = rates(
                    kind, cv=cv, shape=shape, draws=draws, seed=seed, factor=1.3
                )
                size = rates(
                    kind, cv=cv, shape=shape, draws=draws, seed=[*seed, 1]
                ).at_05
                equal, _ = classic_at_equal_size(
                    kind, cv=cv, shape=shape, draws=draws, seed=seed, size=size
                )
                yield (
                    *(name, f"phi {phi}", f"{cv}"),
                    *(f"{found.at_05:.3f}", f"{equal:.3f}", f"{found.classic:.3f}"),
                )


def unrelated(draws: int, dice: int = 0) -> Iterator[tuple[str, ...]]:
    for cv in (0.1, *CVS):
        found = veto(cv=cv, draws=draws, seed=14 + dice)
        yield f"{cv}", f"{found.at_05:.4f}", f"{found.classic:.4f}"


def families(
    deploys: int, otava: Path | None, dice: int = 0
) -> Iterator[tuple[str, ...]]:
    peer = None if otava is None else lambda trial: _otava(trial, otava)
    for number, (name, kind) in enumerate({**NAMED, **UNNAMED}.items()):
        found = many_queries(
            kind, deploys=deploys, seed=1000 + number + dice, peer=peer
        )
        cells = [
            f"{found[rule].false_alarms:.2f} / {found[rule].power:.2f}"
            if rule in found
            else "-"
            for rule in ("alert", "watch", "classic", "peer")
        ]
        yield (name, *cells)


def spreads(draws: int, dice: int = 0) -> Iterator[tuple[str, ...]]:
    """Size and power of +30 % without and with the spread counter."""
    for number, name in enumerate(spread.KINDS):
        cells = []
        for factor in (1.0, 1.3):
            seed = [16 + dice, number, round(10 * factor)]
            pair = spread.shares(name, draws=draws, seed=seed, factor=factor)
            digits = 4 if factor == 1.0 else 3
            for level in ("at_05", "at_001"):
                values = (f"{getattr(one, level):.{digits}f}" for one in pair)
                cells.append(" / ".join(values))
        yield (name, *cells)


def early(draws: int, dice: int = 0) -> Iterator[tuple[str, ...]]:
    for phi in (0.0, 0.5):
        for cv in (0.3, 0.5):
            cells = []
            for factor in (1.0, 1.3, 1.5, 2.0):
                kind = fixed_phi(phi) if phi else INDEPENDENT
                found = looks(kind, cv=cv, factor=factor, draws=draws, seed=15 + dice)
                cells.append(
                    f"{found.found:.4f}"
                    if factor == 1.0
                    else f"{found.found:.3f} / {found.minute:.1f}"
                )
            yield (f"phi {phi}", f"{cv}", *cells)


def _otava(trial: Trial, python: Path) -> NDArray[np.bool_]:
    window = trial.means[:, trial.before - trial.window :]
    with tempfile.TemporaryDirectory() as folder:
        series = Path(folder, "series.npy")
        np.save(series, window)
        script = Path(__file__).with_name("otava_rule.py")
        answer = subprocess.run(
            [
                *(str(python), str(script), str(series)),
                *(str(trial.window), str(0.2 * trial.window)),
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    return np.array([letter == "1" for letter in answer.strip()])


SIZE_HEAD = ("intervals", "noise", "CV", "at .05", "at .001", "classic at .05")


def main() -> None:
    """Print the tables as they are measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10_000, help="series a cell")
    parser.add_argument("--deploys", type=int, default=20, help="deploys a noise")
    parser.add_argument("--otava", type=Path, help="interpreter with apache-otava")
    parser.add_argument("--seed", type=int, default=0, help="other series: 1, 2, …")
    parser.add_argument("tables", nargs="*", help="words of the titles; all if none")
    chosen = parser.parse_args()
    draws, deploys = chosen.draws, chosen.deploys
    # Far from the seeds that count up from it.
    dice = 100_000 * chosen.seed
    for title, head, rows in (
        ("Size", SIZE_HEAD, sizes(draws)),
        ("Other noise", SIZE_HEAD, other_sizes(draws)),
        (
            "Power of +30 %",
            ("intervals", "noise", "CV", "calibrated", "classic, same size", "classic"),
            powers(draws // 2, dice),
        ),
        (
            "Unrelated shift blamed",
            ("CV", "calibrated", "classic"),
            unrelated(draws, dice),
        ),
        (
            "Five looks",
            ("noise", "CV", "size", "+30 %", "+50 %", "+100 %"),
            early(draws // 2, dice),
        ),
        (
            "The spread of single calls",
            ("calls", "size at .05", "at .001", "power at .05", "at .001"),
            spreads(draws // 2, dice),
        ),
        (
            "A thousand queries",
            ("noise", "alert", "watch", "classic", "Otava"),
            families(deploys, chosen.otava, dice),
        ),
    ):
        wanted = chosen.tables
        if not wanted or any(word.lower() in title.lower() for word in wanted):
            print(f"\n### {title}\n\n{table(head, list(rows))}", flush=True)


if __name__ == "__main__":
    main()
