"""What besides the deploy's own code may explain a finding, with its evidence.

Everything is compared inside one server and near one moment: the deploy, or of a change
elsewhere its own change point. Coincidence is all that this shows.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...model import (
    Cause,
    CauseKind,
    ContextSeries,
    Deploy,
    Floats,
    IntervalMeans,
    Outcome,
    QueryKey,
    Settings,
    Shift,
    Surroundings,
    Verdict,
)
from .measures import blocks_ratio, intervals_inside, measured_inside, own_measures

# The split is searched, and there are many measures: 0.05 would often be met by chance.
_P_VALUE = 1e-3
# Least change of a context measure, and of what the query itself is called for.
_CONTEXT_RATIO = 1.2
_OWN_RATIO = 1.5
# Fewest other queries that can show a common shift; more than half of them must.
_OTHERS = 3
# Start times this close are one start, seconds; clocks may differ by as much as a
# minute.
_SAME_START = 1.0
_SKEW = 60.0

FindShifts = Callable[[Sequence[tuple[Floats, Floats]]], Sequence[Shift | None]]


@dataclass(frozen=True, slots=True, eq=False)
class _Scene:
    """What is the same for all queries of the deploy."""

    deploy: Deploy
    settings: Settings
    surroundings: Surroundings
    context: Sequence[tuple[ContextSeries, Shift | None]]
    factors: Mapping[str, Sequence[float]]
    common_rise: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class _Suspect:
    """A query whose rise asks for a cause, its calls, rows and blocks."""

    verdict: Verdict
    moment: float
    factor: float
    own: Mapping[CauseKind, Shift | None]
    blocks_ratio: float | None


def find_causes(
    verdicts: Sequence[Verdict],
    intervals: Mapping[QueryKey, IntervalMeans],
    deploy: Deploy,
    settings: Settings,
    surroundings: Surroundings,
    find_shifts: FindShifts,
    *,
    common_rise: Mapping[str, float] = {},
) -> dict[QueryKey, tuple[Cause, ...]]:
    """Look for causes of every rise that passed the pre-filter.

    Args:
        verdicts: all of the deploy; queries that are past the floors are each other's
            evidence of a common shift.
        intervals: by query; what lies outside the windows is ignored.
        find_shifts: finds the best split of each of many measures.
        common_rise: factor of an abrupt rise that most queries of a server share at
            the deploy, by instance.

    Returns:
        Only queries with a cause; what concerns the server before what concerns the
        query, other deploys in the order of their distance from the change.
    """
    risen = [v for v in verdicts if v.effect is not None and v.key in intervals]
    if not risen:
        return {}
    start, end = deploy.at - settings.window, deploy.at + settings.window
    context = [measured_inside(series, start, end) for series in surroundings.context]
    inside = [intervals_inside(intervals[verdict.key], start, end) for verdict in risen]
    own = [own_measures(one) for one in inside]
    found = iter(
        find_shifts(
            [(series.times, series.values) for series in context]
            + [measure for measures in own for measure in measures.values()]
        )
    )
    scene = _Scene(
        deploy,
        settings,
        surroundings,
        [(series, next(found)) for series in context],
        _factors(verdicts),
        common_rise,
    )
    causes = {}
    for verdict, one, measures in zip(risen, inside, own, strict=True):
        suspect = _Suspect(
            verdict,
            _moment(verdict, deploy),
            verdict.factor or 1.0,
            {kind: next(found) for kind in measures},
            blocks_ratio(one, deploy.at),
        )
        if told := tuple(dict.fromkeys(_causes(suspect, scene))):
            causes[verdict.key] = told
    return causes


def _causes(suspect: _Suspect, scene: _Scene) -> Iterator[Cause]:
    yield from _common_shift(suspect, scene)
    yield from _restarts(suspect, scene)
    yield from _other_deploys(suspect, scene)
    yield from _context(suspect, scene)
    yield from _own_causes(suspect, scene)


def _common_shift(suspect: _Suspect, scene: _Scene) -> Iterator[Cause]:
    """Other queries of the server moved the same way by over half the effect.

    Those that regressed count, too: when a busy machine slows down all of them, there
    are no others.
    """
    instance = suspect.verdict.key.instance
    factors = scene.factors[instance]
    half = math.sqrt(suspect.factor)
    others = len(factors) - 1
    moved = len(factors) - bisect_right(factors, half) - (suspect.factor > half)
    rise = scene.common_rise.get(instance, 1.0)
    if others >= _OTHERS and 2 * moved > others:
        said = (
            f"{moved} of {others} other queries of the server got slower by more than "
            f"half as much, too (median factor {_median_without(factors, suspect):.2f})"
        )
    elif rise >= half > 1.0:
        said = f"the queries of the server share an abrupt rise by a factor {rise:.2f}"
    else:
        return
    yield Cause(CauseKind.COMMON_SHIFT, said + _contention(suspect), external=True)


def _median_without(factors: Sequence[float], suspect: _Suspect) -> float:
    """Median of the ascending *factors* of the others."""
    own, middle = bisect_left(factors, suspect.factor), (len(factors) - 2) / 2
    places = math.floor(middle), math.ceil(middle)
    low, high = (factors[place + (place >= own)] for place in places)
    return (low + high) / 2


def _restarts(suspect: _Suspect, scene: _Scene) -> Iterator[Cause]:
    start = scene.deploy.at - scene.settings.window
    end = scene.deploy.at + scene.settings.window
    for series in _of_server(scene.surroundings.starts, suspect):
        one = measured_inside(series, start, end)
        for place in np.flatnonzero(np.abs(np.diff(one.values)) > _SAME_START):
            seen, started = float(one.times[place + 1]), float(one.values[place + 1])
            if one.times[place] - _SKEW <= started <= seen + _SKEW:
                said = f"the server restarted {_when(started, scene)}"
            else:
                said = f"another server answers, first seen {_when(seen, scene)}"
            yield Cause(CauseKind.RESTART, said, external=True)


def _other_deploys(suspect: _Suspect, scene: _Scene) -> Iterator[Cause]:
    """All candidates; only a nearer one speaks against this one.

    So of several deploys that may have slowed a query, one at least stays accused.
    """
    change = suspect.verdict.change
    changed = scene.deploy.at if change is None else change.at
    own_distance = abs(scene.deploy.at - changed)
    inside = [
        other
        for other in scene.surroundings.deploys
        if other.id != scene.deploy.id
        and abs(other.at - scene.deploy.at) <= scene.settings.window
    ]
    for other in sorted(inside, key=lambda one: (abs(one.at - changed), one.id)):
        distance = abs(other.at - changed)
        name = " ".join(filter(None, (other.service, other.version))) or other.id
        said = (
            f"another deploy, {name}, {_when(other.at, scene)}, "
            f"{distance / 60:.1f} min from the change"
        )
        nearer = distance < own_distance
        yield Cause(CauseKind.OTHER_DEPLOY, said, external=nearer)


def _context(suspect: _Suspect, scene: _Scene) -> Iterator[Cause]:
    """A measure of the server changed; after more work by the query it may follow."""
    works_more = any(
        _is_clear(shift, suspect, scene, _OWN_RATIO)
        and shift.after > shift.before * math.sqrt(suspect.factor)
        for kind in (CauseKind.ROWS_PER_CALL, CauseKind.BLOCKS_PER_CALL)
        if (shift := suspect.own.get(kind)) is not None
    )
    said = "; may follow from the query, which does more work itself per call"
    more = said if works_more else _contention(suspect)
    for series, shift in scene.context:
        concerned = series.instance in ("", suspect.verdict.key.instance)
        if concerned and shift and _is_clear(shift, suspect, scene, _CONTEXT_RATIO):
            evidence = f"{series.name} changed {_from_to(shift, scene)}{more}"
            yield Cause(CauseKind.CONTEXT, evidence, external=not works_more)


def _own_causes(suspect: _Suspect, scene: _Scene) -> Iterator[Cause]:
    """Calls, rows, blocks; only more calls speak for a cause outside.

    Fewer calls may be the effect: who waits longer for an answer asks less often.
    """
    words = {
        CauseKind.CALL_RATE: "calls of the query per second",
        CauseKind.ROWS_PER_CALL: "rows per call",
        CauseKind.BLOCKS_PER_CALL: "blocks per call",
    }
    for kind, shift in suspect.own.items():
        if shift is None or not _is_clear(shift, suspect, scene, _OWN_RATIO):
            continue
        rose = shift.after > shift.before
        said = f"{words[kind]} {'rose' if rose else 'fell'} {_from_to(shift, scene)}"
        if kind is CauseKind.CALL_RATE:
            more = "" if rose else "; may follow from the longer wait"
        elif kind is CauseKind.ROWS_PER_CALL:
            more = ": other data or other parameters"
        else:
            more = ": other data, parameters or plan, not contention"
        external = kind is CauseKind.CALL_RATE and rose
        yield Cause(kind, said + more, external=external)


def _is_clear(shift: Shift, suspect: _Suspect, scene: _Scene, ratio: float) -> bool:
    """Near the moment, beyond chance, and large; from zero any change is large."""
    smaller = min(abs(shift.before), abs(shift.after))
    return (
        abs(shift.at - suspect.moment) <= scene.settings.tolerance
        and shift.p_value <= _P_VALUE
        and abs(shift.after - shift.before) >= (ratio - 1.0) * smaller
    )


def _contention(suspect: _Suspect) -> str:
    ratio = suspect.blocks_ratio
    flat = ratio is not None and 1 / _CONTEXT_RATIO <= ratio <= _CONTEXT_RATIO
    return ", while its blocks per call stayed the same" if flat else ""


def _factors(verdicts: Sequence[Verdict]) -> Mapping[str, Sequence[float]]:
    """By server, ascending."""
    found: dict[str, list[float]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.factor is not None:
            found[verdict.key.instance].append(verdict.factor)
    return {instance: sorted(factors) for instance, factors in found.items()}


def _moment(verdict: Verdict, deploy: Deploy) -> float:
    elsewhere = verdict.outcome is Outcome.BACKGROUND_CHANGE and verdict.change
    return elsewhere.at if elsewhere else deploy.at


def _of_server(
    measures: Sequence[ContextSeries], suspect: _Suspect
) -> list[ContextSeries]:
    instance = suspect.verdict.key.instance
    return [one for one in measures if one.instance in ("", instance)]


def _from_to(shift: Shift, scene: _Scene) -> str:
    return f"{_when(shift.at, scene)} from {shift.before:.3g} to {shift.after:.3g}"


def _when(moment: float, scene: _Scene) -> str:
    minutes = (moment - scene.deploy.at) / 60
    if abs(minutes) < 0.05:
        return "at the deploy"
    return f"{abs(minutes):.1f} min {'after' if minutes > 0 else 'before'} the deploy"
