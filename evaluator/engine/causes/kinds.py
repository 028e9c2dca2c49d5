"""What besides the deploy's own code may explain a slowdown, with its numbers.

Everything is compared within one server and near one moment: the deploy, or the query's
own change point where that lies elsewhere. This shows coincidence and no more.

What comes with the change is a note: other queries that rose too, more calls, a
restart. External, so that nothing alerts, is only what came *before* it: a measure of
the outside or another server before the deploy or before the query's own change, and a
deploy that is nearer to it.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...model import (
    Cause,
    CauseKind,
    ContextSeries,
    Deploy,
    Floats,
    QueryKey,
    Settings,
    Shift,
    Surroundings,
)
from .measures import Slower, measured_inside

# The split is searched, and there are many measures: 0.05 would often be met by chance.
_P_VALUE = 1e-3
# Least change of a context measure, and of the query's own calls, rows and blocks.
_CONTEXT_RATIO = 1.2
OWN_RATIO = 1.5
# Fewest other queries that can show a common shift; more than half of them must.
_OTHERS = 3
# A measure that changed so many of its intervals before the query came first.
_CLEARLY_FIRST = 2
# Start times this close are one start, seconds; clocks may differ by up to a minute.
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
    """A query that got slower, with the changes of its calls, rows and blocks."""

    slower: Slower
    own: Mapping[CauseKind, Shift | None]
    blocks_unchanged: bool

    @property
    def instance(self) -> str:
        return self.slower.key.instance


def find_causes(
    slower: Sequence[Slower],
    deploy: Deploy,
    settings: Settings,
    surroundings: Surroundings,
    find_shifts: FindShifts,
    *,
    factors: Mapping[str, Sequence[float]] = {},
    common_rise: Mapping[str, float] = {},
) -> dict[QueryKey, tuple[Cause, ...]]:
    """Look for causes of every rise that passed the pre-filter.

    Args:
        slower: the queries that rose.
        find_shifts: finds the best split of each of many measures.
        factors: of all queries past the floors, ascending, by instance; they are each
            other's evidence of a common shift.
        common_rise: factor of an abrupt rise that most queries of a server share at
            the deploy, by instance.

    Returns:
        Only queries with a cause; what concerns the server before what concerns the
        query, other deploys in the order of their distance from the change.
    """
    if not slower:
        return {}
    start, end = deploy.at - settings.window, deploy.at + settings.window
    context = [measured_inside(series, start, end) for series in surroundings.context]
    shifts = iter(
        find_shifts(
            [(series.times, series.values) for series in context]
            + [measure for query in slower for measure in query.own.values()]
        )
    )
    scene = _Scene(
        deploy,
        settings,
        surroundings,
        [(series, next(shifts)) for series in context],
        factors,
        common_rise,
    )
    causes = {}
    for query in slower:
        suspect = _Suspect(
            query,
            {kind: next(shifts) for kind in query.own},
            _is_flat(query.blocks_ratio),
        )
        if known := tuple(dict.fromkeys(_causes(suspect, scene))):
            causes[query.key] = known
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
    instance = suspect.instance
    factors = scene.factors.get(instance, ())
    half = math.sqrt(suspect.slower.factor)
    others = len(factors) - 1
    slower = len(factors) - bisect_right(factors, half) - (suspect.slower.factor > half)
    rise = scene.common_rise.get(instance, 1.0)
    if others >= _OTHERS and 2 * slower > others:
        yield Cause(
            CauseKind.COMMON_SHIFT,
            external=False,
            others=others,
            slower=slower,
            factor=_median_without(factors, suspect),
            blocks_unchanged=suspect.blocks_unchanged,
        )
    elif rise >= half > 1.0:
        yield Cause(
            CauseKind.COMMON_SHIFT,
            external=False,
            factor=rise,
            blocks_unchanged=suspect.blocks_unchanged,
        )


def _median_without(factors: Sequence[float], suspect: _Suspect) -> float:
    """Median of the ascending *factors* of the others."""
    own, middle = bisect_left(factors, suspect.slower.factor), (len(factors) - 2) / 2
    places = math.floor(middle), math.ceil(middle)
    low, high = (factors[place + (place >= own)] for place in places)
    return (low + high) / 2


def _restarts(suspect: _Suspect, scene: _Scene) -> Iterator[Cause]:
    start = scene.deploy.at - scene.settings.window
    end = scene.deploy.at + scene.settings.window
    for series in _of_server(scene.surroundings.starts, suspect):
        starts = measured_inside(series, start, end)
        for place in np.flatnonzero(np.abs(np.diff(starts.values)) > _SAME_START):
            seen = float(starts.times[place + 1])
            started = float(starts.values[place + 1])
            before = float(starts.times[place])
            restarted = before - _SKEW <= started <= seen + _SKEW
            yield Cause(
                CauseKind.RESTART,
                external=not restarted and seen < scene.deploy.at,
                at=started if restarted else seen,
                another_server=not restarted,
            )


def _other_deploys(suspect: _Suspect, scene: _Scene) -> Iterator[Cause]:
    """All candidates; only a nearer one speaks against this one.

    So of several deploys that may have slowed a query, at least one stays accused.
    """
    changed = suspect.slower.change_at
    own_distance = abs(scene.deploy.at - changed)
    inside = [
        other
        for other in scene.surroundings.deploys
        if other.id != scene.deploy.id
        and abs(other.at - scene.deploy.at) <= scene.settings.window
    ]
    for other in sorted(
        inside, key=lambda deploy: (abs(deploy.at - changed), deploy.id)
    ):
        distance = abs(other.at - changed)
        yield Cause(
            CauseKind.OTHER_DEPLOY,
            external=distance < own_distance,
            deploy=other,
            distance=distance,
        )


def _context(suspect: _Suspect, scene: _Scene) -> Iterator[Cause]:
    """A measure of the server changed: before the deploy or the query, or with them.

    After more work by the query it may follow from that, whenever it changed.
    """
    works_more = any(
        _is_clear(shift, suspect, scene, OWN_RATIO)
        and shift.after > shift.before * math.sqrt(suspect.slower.factor)
        for kind in (CauseKind.ROWS_PER_CALL, CauseKind.BLOCKS_PER_CALL)
        if (shift := suspect.own.get(kind)) is not None
    )
    for series, shift in scene.context:
        concerned = series.instance in ("", suspect.instance)
        if concerned and shift and _is_clear(shift, suspect, scene, _CONTEXT_RATIO):
            yield Cause(
                CauseKind.CONTEXT,
                external=not works_more and _came_first(series, shift, suspect, scene),
                measure=series.name,
                shift=shift,
                may_follow=works_more,
                blocks_unchanged=suspect.blocks_unchanged,
            )


def _own_causes(suspect: _Suspect, scene: _Scene) -> Iterator[Cause]:
    """Calls, rows, blocks: what else the query does since then."""
    for kind, shift in suspect.own.items():
        if shift is not None and _is_clear(shift, suspect, scene, OWN_RATIO):
            yield Cause(kind, external=False, shift=shift)


def _came_first(
    series: ContextSeries, shift: Shift, suspect: _Suspect, scene: _Scene
) -> bool:
    """Whether the measure changed clearly before the deploy, or before the query.

    Its first changed value shows what happened since the value before; and a split that
    was searched may be off by an interval.
    """
    interval = float(np.median(np.diff(series.times)))
    before_deploy = shift.at < scene.deploy.at
    changed = suspect.slower.change_at
    return before_deploy or shift.at + _CLEARLY_FIRST * interval < changed


def _is_clear(shift: Shift, suspect: _Suspect, scene: _Scene, ratio: float) -> bool:
    """Near the moment, beyond chance, and large; from zero any change is large."""
    smaller = min(abs(shift.before), abs(shift.after))
    return (
        abs(shift.at - suspect.slower.moment) <= scene.settings.tolerance
        and shift.p_value <= _P_VALUE
        and abs(shift.after - shift.before) >= (ratio - 1.0) * smaller
    )


def _is_flat(ratio: float | None) -> bool:
    return ratio is not None and 1 / _CONTEXT_RATIO <= ratio <= _CONTEXT_RATIO


def _of_server(
    measures: Sequence[ContextSeries], suspect: _Suspect
) -> list[ContextSeries]:
    instance = suspect.instance
    return [series for series in measures if series.instance in ("", instance)]
