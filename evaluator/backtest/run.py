"""Judge moments of the past without a deploy: how often would there be an alarm?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..engine import judge
from ..engine.stats.intervals import count_interval, dispersion, share_interval
from ..model import METHODS, Batch, Deploy, Level, Outcome, Settings, Verdict
from ..model.backtest import (
    BacktestReport,
    EngineResult,
    FalseAlarm,
    QueryNoise,
    Rate,
)
from ..model.batch import QueryKey
from .power import detectable_factor
from .rolling import RollingCounters

# Fewest moments from which the standard deviation of a query's log factor is estimated.
_LEAST_MOMENTS = 5
# It is estimated from the range that holds nine of ten factors: the middle half would
# hide that a query now and then takes another plan.
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
    """The verdicts of each engine at one moment."""

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
    counters: RollingCounters,
    settings: Settings,
    engines: Sequence[str],
    *,
    looks: bool = False,
) -> Iterator[Moment]:
    """Judge each moment as if something had been deployed.

    Args:
        moments: ascending, Unix seconds.
        engines: names of the engines to try.
        looks: judge at every look that a running evaluator takes, not only at the end
            of the window.

    Raises:
        SourceError: the counters could not be read; what was yielded stands.
    """
    learns = any(METHODS[engine].learns_from_history for engine in engines)
    past = max(settings.window, settings.history if learns else 0.0)
    for at in moments:
        batches = counters.between(at - past, at + settings.window)
        deploy = Deploy(f"backtest-{at:.0f}", at)
        yield Moment(
            at,
            {
                engine: _judge(
                    batches,
                    deploy,
                    replace(settings, engine=engine),
                    looks=looks,
                )
                for engine in engines
            },
        )


def _judge(
    batches: Sequence[Batch],
    deploy: Deploy,
    settings: Settings,
    *,
    looks: bool,
) -> tuple[Verdict, ...]:
    """The final verdicts; what an early look detects stands."""
    last = len(METHODS[settings.engine].looks) - 1
    if not looks or not last:
        return tuple(judge(batches, deploy, settings))
    early: dict[QueryKey, Verdict] = {}
    for look in range(last):
        for verdict in judge(batches, deploy, settings, look=look):
            if verdict.outcome is Outcome.DETECTED:
                early.setdefault(verdict.key, verdict)
    final = judge(batches, deploy, settings, look=last)
    return tuple(early.get(verdict.key, verdict) for verdict in final)


@dataclass(slots=True)
class _Count:
    """Results of one engine so far; ``by_block``: false alarms by independent block."""

    moments: int = 0
    alarmed: int = 0
    judged: int = 0
    false_alarms: int = 0
    watched: int = 0
    by_block: Counter[int] = field(default_factory=Counter)


class Tally:
    """Adds up moments, and can report at any time what is known so far."""

    def __init__(self, plan_: Plan, settings: Settings, engines: Sequence[str]) -> None:
        self._plan = plan_
        self._settings = settings
        self._counts = {engine: _Count() for engine in engines}
        self._false_alarms: list[FalseAlarm] = []
        self._factors: dict[QueryKey, list[float]] = defaultdict(list)
        self.judged = self._empty = 0

    def add(self, moment: Moment) -> None:
        """Count the verdicts at one more moment."""
        self.judged += 1
        block = int(moment.at // self._independent)
        for engine, count in self._counts.items():
            judged = [
                verdict
                for verdict in moment.verdicts[engine]
                if verdict.outcome is not Outcome.INSUFFICIENT_DATA
            ]
            if not judged:
                continue
            detected = [v for v in judged if v.outcome is Outcome.DETECTED]
            count.moments += 1
            count.alarmed += bool(detected)
            count.judged += len(judged)
            count.false_alarms += len(detected)
            count.watched += sum(map(_watched, judged))
            count.by_block[block] += len(detected)
            self._false_alarms += [
                FalseAlarm(engine, moment.at, verdict.key, verdict.factor)
                for verdict in detected
                if verdict.factor is not None
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
    ) -> BacktestReport:
        """All that is known so far.

        Args:
            seen: queries with any sample.
        """
        moments = self._plan.moments
        known = set(seen)
        return BacktestReport(
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
            engines=tuple(self._results()),
            false_alarms=tuple(self._false_alarms),
            noise=self._noise(),
            notes=tuple(notes),
        )

    @property
    def _independent(self) -> float:
        """Moments this far apart share no sample of their windows, seconds."""
        return max(2.0 * self._settings.window, self._plan.every)

    def _results(self) -> Iterator[EngineResult]:
        overlap = self._independent / self._plan.every
        for engine, count in self._counts.items():
            clusters = dispersion(list(count.by_block.values()), least=overlap)
            yield EngineResult(
                engine=engine,
                moments=count.moments,
                alarmed=count.alarmed,
                judged=count.judged,
                false_alarms=count.false_alarms,
                watched=count.watched,
                share=_share(count.alarmed, count.moments, overlap),
                per_thousand=_per_thousand(count.false_alarms, count.judged, clusters),
                dispersion=clusters,
            )

    def _noise(self) -> tuple[QueryNoise, ...]:
        noise = []
        for key, logs in self._factors.items():
            if len(logs) >= _LEAST_MOMENTS:
                sd = float(np.quantile(np.abs(logs), _QUANTILE)) / _NORMAL_QUANTILE
                noise.append(
                    QueryNoise(key, len(logs), sd, self._detectable_factors(sd))
                )
        return tuple(sorted(noise, key=lambda query: (-query.log_factor_sd, query.key)))

    def _detectable_factors(self, log_factor_sd: float) -> dict[str, float]:
        """A method that corrects for queries shares its level among them."""
        settings = self._settings
        detectable = {}
        for engine, count in self._counts.items():
            alpha, queries = settings.alpha / 2.0, 1.0
            if METHODS[engine].corrects_for_queries:
                alpha, queries = settings.alpha, count.judged / max(1, count.moments)
            detectable[engine] = detectable_factor(
                log_factor_sd,
                threshold=settings.threshold,
                alpha=alpha,
                queries=queries,
            )
        return detectable


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
