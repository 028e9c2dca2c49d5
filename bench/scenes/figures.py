"""Many deploys of a scene, judged in parallel, and the row of the table they make."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

import numpy as np

from .catalogue import SCENES
from .counters import make
from .examination import Tally, at_every_look, at_the_end

# Far from the seeds of the other tables.
_FIRST_SEED = 4_000
# False alerts that a single deploy may have, and the power asked for on average.
MOST_OF_ONE, MEAN_POWER = 10, 0.7

HEAD = (
    "scene",
    "what happens",
    "false alarms",
    "false alarms, looks",
    "false alerts, looks",
    "goal",
    "+50 %",
    "×2",
    "+50 %, looks",
    "muted",
)


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one scene and one set of seeds: each deploy judged once, and at all looks."""

    end: Sequence[Tally]
    looks: Sequence[Tally]

    def mean(self, judged: str, what: str) -> float:
        return float(np.mean([getattr(one, what) for one in getattr(self, judged)]))

    def most(self, judged: str, what: str) -> int:
        return int(max(getattr(one, what) for one in getattr(self, judged)))

    def meets(self, name: str) -> bool:
        """Whether the false alerts and the power are those asked for."""
        scene = SCENES[name]
        return (
            self.mean("looks", "alerts") <= scene.most
            and self.most("looks", "alerts") <= MOST_OF_ONE
            and (scene.least is None or self.mean("looks", "at_half") >= scene.least)
        )


def examine_scenes(
    names: Sequence[str],
    *,
    deploys: int,
    seeds: Sequence[int],
    queries: int,
    processes: int,
) -> Iterator[tuple[str, list[Figures]]]:
    """For each scene the figures of each set of seeds, as soon as they are there.

    A line of progress each goes to standard error.
    """
    with ExitStack() as stack:
        apply: Callable[..., Iterable[tuple[Tally, Tally]]] = map
        if processes > 1:
            pool = stack.enter_context(get_context("fork").Pool(processes))
            apply = partial(pool.imap, chunksize=1)
        for name in names:
            found = []
            for seed in seeds:
                began = time.monotonic()
                work = partial(one_deploy, name, queries, seed)
                judged = Figures(*zip(*apply(work, range(deploys)), strict=True))
                _show(name, judged, seed, time.monotonic() - began)
                found.append(judged)
            yield name, found


def one_deploy(name: str, queries: int, seed: int, deploy: int) -> tuple[Tally, Tally]:
    """Draw one deploy and judge it both ways."""
    number = list(SCENES).index(name)
    example = make(SCENES[name], [_FIRST_SEED + seed, number, deploy], queries=queries)
    return at_the_end(example), at_every_look(example)


def _show(name: str, found: Figures, seed: int, took: float) -> None:
    print(
        f"{name}, seed {seed}: {len(found.end)} deploys in {took:.0f} s, "
        f"{found.mean('looks', 'alerts'):.2f} false alerts "
        f"(most {found.most('looks', 'alerts')}), "
        f"+50 % {found.mean('looks', 'at_half'):.2f}",
        file=sys.stderr,
        flush=True,
    )


def rows(
    examined: Iterable[tuple[str, Sequence[Figures]]],
) -> Iterator[tuple[str, ...]]:
    """One for each scene, and a last one for the mean power of all of them."""
    powers = []
    for name, sets in examined:
        powers.append([one.mean("looks", "at_half") for one in sets])
        yield row(name, sets)
    means = np.mean(powers, axis=0)
    met = _mark(bool((means >= MEAN_POWER).all()))
    power = " / ".join(f"{mean:.2f}" for mean in means)
    yield ("mean", "", "", "", "", f"+50 % ≥ {MEAN_POWER:g} {met}", "", "", power, "")


def row(name: str, sets: Sequence[Figures]) -> tuple[str, ...]:
    """Means of each set of seeds, and in brackets its worst deploy."""
    scene = SCENES[name]
    counts = [
        " / ".join(f"{one.mean(*which):.2f} ({one.most(*which)})" for one in sets)
        for which in (("end", "alarms"), ("looks", "alarms"), ("looks", "alerts"))
    ]
    powers = [
        " / ".join(f"{one.mean(*which):.2f}" for one in sets)
        for which in (("end", "at_half"), ("end", "at_double"), ("looks", "at_half"))
    ]
    found = sum(tally.found for one in sets for tally in one.looks)
    muted = sum(tally.muted for one in sets for tally in one.looks)
    goal = f"≤ {scene.most:g} {_mark(all(one.meets(name) for one in sets))}"
    share = f"{100.0 * muted / max(found, 1):.0f} %"
    return (name, scene.equation, *counts, goal, *powers, share)


def _mark(met: bool) -> str:  # noqa: FBT001 - a cell of the table
    return "reached" if met else "**missed**"
