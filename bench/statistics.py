"""Print every table of docs/statistics.md: ``python -m bench.statistics``.

Seeded; some minutes on two cores. ``--otava`` measures Apache Otava beside us, which is
fetched the first time; ``--page docs/statistics.md`` puts the tables there.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from . import peers, spread
from .measures import (
    Found,
    Rates,
    Shape,
    classic_at_equal_size,
    looks,
    many_queries,
    rates,
    veto,
)
from .noise import INDEPENDENT, NAMED, UNNAMED, fixed_phi
from .scenes import SCENES
from .scenes.command import FEW_QUERIES, QUERIES, QUICK, QUOTED
from .scenes.figures import HEAD, examine_scenes, rows
from .tables import table, with_table
from .unforeseen import BROKEN, UNFORESEEN

SHAPES = {
    "60, history 240": Shape(30, 240),
    "60, no history": Shape(30, 30),
    "240, history 960": Shape(120, 960),
}
PHIS = (0.0, 0.3, 0.5, 0.7)
CVS = (0.15, 0.3, 0.5)
BREAKING = (
    ("own steps", BROKEN["own steps"], Shape()),
    ("two plans", UNNAMED["two plans"], Shape(30, 30)),
    ("long memory", UNNAMED["long memory"], Shape(30, 30)),
    ("moving average", NAMED["moving average"], Shape(30, 30)),
    ("independent", INDEPENDENT, Shape(30, 30)),
    ("hourly cycle", BROKEN["hourly cycle"], Shape(30, 30)),
    ("two groups", BROKEN["two groups"], Shape()),
    ("slow start-up", BROKEN["slow start-up"], Shape()),
    ("hourly cycle", BROKEN["hourly cycle"], Shape()),
)
OTHERS = ("calls of CV 3", "tenfold traffic", "daily traffic", "heavy tails")


@dataclass(frozen=True, slots=True)
class Run:
    """How much to simulate, with which seeds, and which rows of the tables.

    Args:
        draws: series a cell.
        deploys: deploys a noise.
        offset: added to every seed.
        cells: a row is measured if all of these are among its labels.
        otava: interpreter that has apache-otava, if any.
        scenes: names of those that are examined, ``quick`` whether by few deploys.
    """

    draws: int
    deploys: int = 20
    offset: int = 0
    cells: Sequence[str] = ()
    otava: Path | None = None
    scenes: Sequence[str] = tuple(SCENES)
    quick: bool = False

    def takes(self, *labels: str) -> bool:
        return set(self.cells) <= set(labels)


def sizes(run: Run) -> Iterator[tuple[str, ...]]:
    """False alarms of the p-value where nothing changes."""
    for name, shape in SHAPES.items():
        count = 2 * run.draws if shape.window == 30 else run.draws // 2
        for phi, cv in product(PHIS, CVS):
            labels = name, f"phi {phi}", f"{cv}"
            if run.takes(*labels):
                shapes = shape.window, shape.before
                seed = [11 + run.offset, *shapes, int(10 * phi), int(100 * cv)]
                found = rates(
                    fixed_phi(phi), cv=cv, shape=shape, draws=count, seed=seed
                )
                yield (*labels, *_sizes(found))


def other_sizes(run: Run) -> Iterator[tuple[str, ...]]:
    """The same where the noise is not a log-normal autoregression."""
    for (number, name), cv in product(enumerate(OTHERS), CVS):
        labels = "60, history 240", name, f"{cv}"
        if run.takes(*labels):
            found = rates(
                {**NAMED, **UNNAMED}[name],
                cv=cv,
                shape=Shape(),
                draws=run.draws,
                seed=[12 + run.offset, number, int(100 * cv)],
            )
            yield (*labels, *_sizes(found))


def _sizes(found: Rates) -> tuple[str, ...]:
    return f"{found.at_05:.4f}", f"{found.at_001:.4f}", f"{found.classic:.4f}"


def powers(run: Run) -> Iterator[tuple[str, ...]]:
    """+30 % at the deploy; the classic rule as it is, and at the calibrated size."""
    for (name, shape), phi, cv in product(SHAPES.items(), (0.0, 0.5), CVS):
        labels = name, f"phi {phi}", f"{cv}"
        if not run.takes(*labels):
            continue
        kind = fixed_phi(phi)
        seed = [13 + run.offset, shape.window, shape.before, int(10 * phi)]
        draws = run.draws // 2
        found = rates(kind, cv=cv, shape=shape, draws=draws, seed=seed, factor=1.3)
        size = rates(kind, cv=cv, shape=shape, draws=draws, seed=[*seed, 1]).at_05
        equal, _ = classic_at_equal_size(
            kind, cv=cv, shape=shape, draws=draws, seed=seed, size=size
        )
        powers = (found.at_05, equal, found.classic)
        yield (*labels, *(f"{power:.3f}" for power in powers))


def unrelated(run: Run) -> Iterator[tuple[str, ...]]:
    for cv in (0.1, *CVS):
        if run.takes(f"{cv}"):
            found = veto(cv=cv, draws=run.draws, seed=14 + run.offset)
            yield f"{cv}", f"{found.at_05:.4f}", f"{found.classic:.4f}"


def families(run: Run) -> Iterator[tuple[str, ...]]:
    otava = run.otava
    kinds = {**NAMED, **UNNAMED, **UNFORESEEN}
    peer = None if otava is None else lambda trial: peers.otava(trial, otava)
    for number, (name, kind) in enumerate(kinds.items()):
        if run.takes(name):
            found = many_queries(
                kind, deploys=run.deploys, seed=1000 + number + run.offset, peer=peer
            )
            rules = ("alert", "watch", "classic", "peer")
            yield (name, *(_alarms(found.get(rule)) for rule in rules))


def breaking(run: Run) -> Iterator[tuple[str, ...]]:
    """A thousand queries where it goes wrong."""
    for number, (name, kind, shape) in enumerate(BREAKING):
        history = "60, history 240" if shape.before > shape.window else "60, no history"
        if run.takes(history, name):
            # Groups raise false alarms seldom, and then all together.
            times = 2.0 if name == "two groups" else 0.5
            found = many_queries(
                kind,
                deploys=max(1, round(times * run.deploys)),
                seed=2000 + number + run.offset,
                shape=shape,
            )
            rules = ("alert", "watch", "classic")
            yield (history, name, *(_alarms(found[rule]) for rule in rules))


def _alarms(found: Found | None) -> str:
    return "-" if found is None else f"{found.false_alarms:.2f} / {found.power:.2f}"


def spreads(run: Run) -> Iterator[tuple[str, ...]]:
    """Size and power of +30 % without and with the spread counter."""
    for number, name in enumerate(spread.KINDS):
        if not run.takes(name):
            continue
        cells = []
        for factor in (1.0, 1.3):
            seed = [16 + run.offset, number, round(10 * factor)]
            pair = spread.shares(name, draws=run.draws // 2, seed=seed, factor=factor)
            digits = 4 if factor == 1.0 else 3
            for level in ("at_05", "at_001"):
                values = (f"{getattr(one, level):.{digits}f}" for one in pair)
                cells.append(" / ".join(values))
        yield (name, *cells)


def early(run: Run) -> Iterator[tuple[str, ...]]:
    for phi, cv in product((0.0, 0.5), (0.3, 0.5)):
        labels = f"phi {phi}", f"{cv}"
        if not run.takes(*labels):
            continue
        kind = fixed_phi(phi) if phi else INDEPENDENT
        cells = []
        for factor in (1.0, 1.3, 1.5, 2.0):
            found = looks(
                kind, cv=cv, factor=factor, draws=run.draws // 2, seed=15 + run.offset
            )
            share = f"{found.found:.4f}"
            if factor > 1.0:
                share = f"{found.found:.3f} / {found.minute:.1f}"
            cells.append(share)
        yield (*labels, *cells)


def scenes(run: Run, *, queries: int = QUERIES) -> Iterator[tuple[str, ...]]:
    """Both sets of seeds that nothing was tuned on."""
    yield from rows(
        examine_scenes(
            run.scenes,
            deploys=QUICK if run.quick else 2 * run.deploys,
            seeds=[seed + run.offset for seed in QUOTED],
            queries=queries,
            processes=os.cpu_count() or 1,
        )
    )


SIZE_HEAD = ("intervals", "noise", "CV", "at .05", "at .001", "classic at .05")
POWER_HEAD = ("calibrated", "classic, same size", "classic")
# Title, heads, and what makes the rows.
TABLES: Sequence[
    tuple[str, Sequence[str], Callable[[Run], Iterator[tuple[str, ...]]]]
] = (
    ("Size", SIZE_HEAD, sizes),
    ("Size under other noise", SIZE_HEAD, other_sizes),
    ("Power of +30 %", ("intervals", "noise", "CV", *POWER_HEAD), powers),
    ("Unrelated shift blamed", ("CV", "calibrated", "classic"), unrelated),
    ("Five looks", ("noise", "CV", "size", "+30 %", "+50 %", "+100 %"), early),
    (
        "The spread of single calls",
        ("calls", "size at .05", "at .001", "power at .05", "at .001"),
        spreads,
    ),
    (
        "A thousand queries",
        ("noise", "alert", "watch", "classic", "Otava"),
        families,
    ),
    (
        "Where it breaks",
        ("intervals", "noise", "alert", "watch", "classic"),
        breaking,
    ),
    ("Scenes", HEAD, scenes),
    ("Scenes of 200 queries", HEAD, partial(scenes, queries=FEW_QUERIES)),
)


def main() -> None:
    """Print the tables as they are measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10_000, help="series a cell")
    parser.add_argument("--deploys", type=int, default=20, help="deploys a noise")
    parser.add_argument("--otava", action="store_true", help="Apache Otava, too")
    parser.add_argument("--seed", type=int, default=0, help="other series: 1, 2, …")
    parser.add_argument(
        "--cell",
        action="append",
        default=[],
        metavar="LABEL",
        help="only rows with this label, such as 'phi 0.7'; more of them narrow it",
    )
    parser.add_argument(
        "--scenes",
        nargs="+",
        default=list(SCENES),
        choices=SCENES,
        metavar="NAME",
        help=f"only these of {', '.join(SCENES)}",
    )
    parser.add_argument("--quick", action="store_true", help="few deploys of a scene")
    parser.add_argument("--page", type=Path, help="put the tables into it, too")
    parser.add_argument("tables", nargs="*", help="words of the titles; all if none")
    chosen = parser.parse_args()
    run = Run(
        draws=chosen.draws,
        deploys=chosen.deploys,
        # Far from the seeds that count up from it.
        offset=100_000 * chosen.seed,
        cells=chosen.cell,
        otava=peers.python() if chosen.otava else None,
        scenes=chosen.scenes,
        quick=chosen.quick,
    )
    wanted = [word.lower() for word in chosen.tables]
    for title, head, measure in TABLES:
        if not wanted or any(word in title.lower() for word in wanted):
            made = table(head, list(measure(run)))
            print(f"\n### {title}\n\n{made}", flush=True)
            if chosen.page:
                page = chosen.page.read_text("utf-8")
                chosen.page.write_text(with_table(page, title, made), "utf-8")


if __name__ == "__main__":
    main()
