"""Would the engines have cried where nothing was deployed? Ask the own history."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..engine.judge import LOOKS, judge
from ..engine.stats.intervals import count_interval, dispersion, share_interval
from ..model import CounterSeries, Deploy, Level, Outcome, Settings, Verdict
from ..model.backtest import Cry, EngineRecord, PlaceboReport, QueryScatter, Rate
from ..model.series import QueryKey
from .power import least_factor
from .rolling import Stretches

# Moments that a query needs before its scatter can be told.
_LEAST_MOMENTS = 5
# The scatter is read where nine of ten factors lie inside: the middle half would hide
# that a query now and then takes another plan.
_QUANTILE, _NORMAL_QUANTILE = 0.9, 1.6448536269514722


@dataclass(frozen=True, slots=True)
class Plan:
    """Which moments are judged.

    Args:
        moments: ascending, Unix seconds.
        every: distance of two neighbours, seconds.
        near_deploys: how many were left out, less than a window from a known deploy.
    """

    moments: tuple[float, ...]
    every: float
    near_deploys: int


@dataclass(frozen=True, slots=True)
class Moment:
    """What each engine says of one moment."""

    at: float
    verdicts: Mapping[str, tuple[Verdict, ...]]


def plan(
    first: float, last: float, every: float, window: float, deploys: Iterable[float]
) -> Plan:
    """Every so often between two moments, but not where something was deployed.

    Args:
        deploys: when they happened, Unix seconds.
    """
    marks = np.sort(np.fromiter(deploys, dtype=np.float64))
    count = int((last - first) // every) + 1 if last >= first else 0
    moments = [last - every * back for back in reversed(range(count))]
    kept = [
        at for at in moments if not marks.size or np.abs(marks - at).min() >= window
    ]
    return Plan(tuple(kept), every, len(moments) - len(kept))


def judge_moments(
    moments: Sequence[float],
    stretches: Stretches,
    settings: Settings,
    engines: Sequence[str],
    *,
    looks: bool = False,
) -> Iterator[Moment]:
    """Judge each moment as if something had been deployed.

    Args:
        moments: ascending, Unix seconds.
        engines: names of the rules to try.
        looks: judge at every look that a running evaluator takes, not only at the end
            of the window.

    Raises:
        SourceError: the counters could not be had; what was yielded stands.
    """
    past = max(settings.window, settings.history if "calibrated" in engines else 0.0)
    for at in moments:
        series = stretches.between(at - past, at + settings.window)
        deploy = Deploy(f"placebo-{at:.0f}", at)
        yield Moment(
            at,
            {
                engine: _judge(
                    series,
                    deploy,
                    replace(settings, engine=engine),
                    looks=looks and engine == "calibrated",
                )
                for engine in engines
            },
        )


def _judge(
    series: Sequence[CounterSeries],
    deploy: Deploy,
    settings: Settings,
    *,
    looks: bool,
) -> tuple[Verdict, ...]:
    """The final verdicts; what an early look detects stands."""
    if not looks:
        return judge(series, deploy, settings)
    last = len(LOOKS) - 1
    early: dict[QueryKey, Verdict] = {}
    for look in range(last):
        for verdict in judge(series, deploy, settings, look=look):
            if verdict.outcome is Outcome.DETECTED:
                early.setdefault(verdict.key, verdict)
    final = judge(series, deploy, settings, look=last)
    return tuple(early.get(verdict.key, verdict) for verdict in final)


@dataclass(slots=True)
class _Count:
    """What one engine did so far; ``by_stretch`` counts cries by independent time."""

    moments: int = 0
    crying: int = 0
    judged: int = 0
    cries: int = 0
    watched: int = 0
    by_stretch: Counter[int] = field(default_factory=Counter)


class Tally:
    """Adds up moments, and can tell at any time what is known so far."""

    def __init__(self, plan_: Plan, settings: Settings, engines: Sequence[str]) -> None:
        self._plan = plan_
        self._settings = settings
        self._counts = {engine: _Count() for engine in engines}
        self._cries: list[Cry] = []
        self._factors: dict[QueryKey, list[float]] = defaultdict(list)
        self.judged = self._empty = 0

    def add(self, moment: Moment) -> None:
        """Count what the engines say of one more moment."""
        self.judged += 1
        stretch = int(moment.at // self._independent)
        for engine, count in self._counts.items():
            judged = [
                verdict
                for verdict in moment.verdicts[engine]
                if verdict.outcome is not Outcome.INSUFFICIENT_DATA
            ]
            if not judged:
                continue
            named = [v for v in judged if v.outcome is Outcome.DETECTED]
            count.moments += 1
            count.crying += bool(named)
            count.judged += len(judged)
            count.cries += len(named)
            count.watched += sum(map(_watched, judged))
            count.by_stretch[stretch] += len(named)
            self._cries += [
                Cry(engine, moment.at, one.key, one.factor)
                for one in named
                if one.factor is not None
            ]
        # The floors and the factor are the same for every engine.
        factors = [
            (verdict.key, verdict.factor)
            for verdict in next(iter(moment.verdicts.values()))
            if verdict.factor is not None and verdict.factor > 0
        ]
        self._empty += not factors
        for key, factor in factors:
            self._factors[key].append(float(np.log(factor)))

    def report(
        self, seen: Iterable[QueryKey], notes: Sequence[str] = ()
    ) -> PlaceboReport:
        """All that is known so far.

        Args:
            seen: queries with any sample.
        """
        moments = self._plan.moments
        known = set(seen)
        return PlaceboReport(
            start=moments[0],
            end=moments[self.judged - 1] if self.judged else moments[0],
            every=self._plan.every,
            window=self._settings.window,
            planned=len(moments),
            judged=self.judged,
            empty=self._empty,
            near_deploys=self._plan.near_deploys,
            queries=len(known),
            never_judged=len(known - self._factors.keys()),
            records=tuple(self._records()),
            cries=tuple(self._cries),
            scatters=self._scatters(),
            notes=tuple(notes),
        )

    @property
    def _independent(self) -> float:
        """Moments this far apart share no sample of their windows, seconds."""
        return max(2.0 * self._settings.window, self._plan.every)

    def _records(self) -> Iterator[EngineRecord]:
        overlap = self._independent / self._plan.every
        for engine, count in self._counts.items():
            clusters = dispersion(list(count.by_stretch.values()), least=overlap)
            yield EngineRecord(
                engine=engine,
                moments=count.moments,
                crying=count.crying,
                judged=count.judged,
                cries=count.cries,
                watched=count.watched,
                share=_share(count.crying, count.moments, overlap),
                per_thousand=_per_thousand(count.cries, count.judged, clusters),
                dispersion=clusters,
            )

    def _scatters(self) -> tuple[QueryScatter, ...]:
        scatters = [
            QueryScatter(key, len(logs), scatter, self._least_factors(scatter))
            for key, logs in self._factors.items()
            if len(logs) >= _LEAST_MOMENTS
            for scatter in [
                float(np.quantile(np.abs(logs), _QUANTILE)) / _NORMAL_QUANTILE
            ]
        ]
        return tuple(sorted(scatters, key=lambda one: (-one.scatter, one.key)))

    def _least_factors(self, scatter: float) -> dict[str, float]:
        """The calibrated engine shares its level among the queries of a deploy."""
        settings = self._settings
        return {
            engine: least_factor(
                scatter,
                threshold=settings.threshold,
                alpha=settings.alpha / (2.0 if engine == "classic" else 1.0),
                queries=1.0
                if engine == "classic"
                else count.judged / max(1, count.moments),
            )
            for engine, count in self._counts.items()
        }


def _watched(verdict: Verdict) -> bool:
    significance = verdict.significance
    return significance is not None and significance.level is Level.WATCH


def _share(hits: int, trials: int, overlap: float) -> Rate | None:
    if not trials:
        return None
    return Rate(hits / trials, *share_interval(hits / overlap, trials / overlap))


def _per_thousand(count: int, judged: int, clusters: float) -> Rate | None:
    if not judged:
        return None
    low, high = count_interval(count, clusters)
    thousands = judged / 1000.0
    return Rate(count / thousands, low / thousands, high / thousands)
