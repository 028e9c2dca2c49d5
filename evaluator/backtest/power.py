"""Required sample size: by formula, and by simulating deploys for the engine.

References:
    Sample size of two means: n = 2 · (z(0.975) + z(0.8))² · CV² / δ² on each side, that
    is 15.7 · CV² / δ², for a power of 0.8 at a level of 0.05, a split known beforehand,
    and independent normal values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from scipy.special import ndtri

from ..model import CounterSeries, Deploy, IntervalMeans, Outcome, Settings, Verdict
from ..model.sample_size import Noise, SampleSize
from ..model.series import Floats, QueryKey

Judge: TypeAlias = Callable[
    [Sequence[CounterSeries], Deploy, Settings], Sequence[Verdict]
]

# A window is long enough when the rise is found in four of five deploys.
POWER = 0.8
# Numbers of intervals on each side that are simulated.
INTERVALS = (10, 15, 20, 30, 45, 60, 90, 120, 180, 240)
# Queries of one simulated deploy, and how many of them get slower. The classic engine
# judges each alone, so that the others need not be there.
_FAMILY, _REGRESSED = 400, 4
_ALONE = 25
# Regressed queries that are simulated: at most, and at least.
_TRIALS, _LEAST_TRIALS = 100, 12
# Windows of history in front of a simulated deploy, at most.
_HISTORY = 8
# Fewest intervals from which the noise of a query is measured.
_LEAST_INTERVALS = 20
_NORMAL_MAD = 0.6744897501960817
_LARGEST_PHI = 0.95
_LEAST_SHARE = 1e-3
_LEAST_CV = 1e-3
_AT = 1_500_000_000.0


def intervals_needed(cv: float, rise: float) -> int:
    """Values on each side of a known split that find *rise* with a power of 0.8.

    Args:
        cv: coefficient of variation of one value.
        rise: fraction above 0, 0.2 for +20 %.
    """
    both = float(ndtri(0.975) + ndtri(POWER))
    return max(2, int(np.ceil(2.0 * both**2 * cv**2 / rise**2)))


def detectable_factor(
    log_factor_sd: float, *, threshold: float, alpha: float, queries: float = 1.0
) -> float:
    """The smallest factor that is found in four of five deploys.

    Args:
        log_factor_sd: standard deviation of the log factor without a change.
        threshold: of the pre-filter, which sees the factor with its noise.
        alpha: one-sided level.
        queries: that share the level, of which one got slower.
    """
    margin = float(ndtri(POWER)) * log_factor_sd
    critical = -float(ndtri(alpha / max(1.0, queries))) * log_factor_sd
    return float(np.exp(max(np.log1p(threshold), critical) + margin))


def noise_of(intervals: IntervalMeans) -> Noise | None:
    """Measure the noise of one query; a change in the period counts as noise.

    The standard deviation is estimated from the median absolute deviation of the
    logarithms, which a few outliers do not change.

    Returns:
        None when there are too few intervals.
    """
    if intervals.means.size < _LEAST_INTERVALS:
        return None
    level = float(np.median(intervals.means))
    if not level > 0:
        return None
    logs = np.log(np.maximum(intervals.means / level, _LEAST_SHARE))
    log_sd = float(np.median(np.abs(logs))) / _NORMAL_MAD
    span = float(intervals.ends[-1] - intervals.starts[0])
    return Noise(
        cv=max(_LEAST_CV, float(np.sqrt(np.expm1(min(log_sd, 3.0) ** 2)))),
        phi=_correlation(np.clip(logs, -4.0 * log_sd, 4.0 * log_sd)),
        calls=float(np.median(intervals.calls)),
        spacing=span / intervals.means.size,
        key=intervals.key,
    )


def required_sample_size(
    noise: Noise,
    rise: float,
    settings: Settings,
    judge: Judge,
    rng: np.random.Generator,
) -> SampleSize:
    """Find the fewest intervals in which *judge* finds *rise* in four of five deploys.

    A rise that is not above the threshold of the pre-filter is never found reliably,
    however long the window; it is simulated with a threshold of half its size.

    Args:
        noise: what all queries of the simulated deploys have.
        rise: fraction, 0.2 for +20 %.
        settings: the window in it is not used.
    """
    threshold = settings.threshold if rise > settings.threshold else rise / 2.0
    settings = replace(settings, threshold=threshold)
    formula = intervals_needed(noise.cv, rise)
    least = max(settings.min_samples, np.ceil(settings.min_calls / _calls(noise)))
    # No test needs much less than the formula for a split that is known.
    least = max(least, min(formula / 2, INTERVALS[-1]))
    power = 0.0
    for intervals in (number for number in INTERVALS if number >= least):
        power = simulated_power(noise, rise, intervals, settings, judge, rng)
        if power >= POWER:
            return SampleSize(rise, threshold, formula, intervals, power, INTERVALS[-1])
    return SampleSize(rise, threshold, formula, None, power, INTERVALS[-1])


def simulated_power(
    noise: Noise,
    rise: float,
    intervals: int,
    settings: Settings,
    judge: Judge,
    rng: np.random.Generator,
) -> float:
    """Share of regressed queries that *judge* finds, one in a hundred of a deploy.

    Stops as soon as the share is clearly not four of five.

    Args:
        intervals: on each side of the deploy.
    """
    spacing = float(max(1, round(noise.spacing)))
    settings = replace(settings, window=intervals * spacing)
    queries, regressed, history = _ALONE, _ALONE, intervals
    if settings.engine != "classic":
        queries, regressed = _FAMILY, _REGRESSED
        longest = min(int(settings.history / spacing), _HISTORY * intervals)
        history = max(intervals, longest)
    deploy = Deploy("simulated", _AT)
    slower = {_name(row) for row in range(regressed)}
    found = tried = 0
    while tried < _TRIALS:
        means = _noisy(noise, (queries, history + intervals), rng)
        means[:regressed, history:] *= 1.0 + rise
        verdicts = judge(_counters(means, noise, history, spacing), deploy, settings)
        found += sum(
            verdict.outcome is Outcome.DETECTED
            for verdict in verdicts
            if verdict.key.queryid in slower
        )
        tried += regressed
        sure = 3.0 * np.sqrt(POWER * (1.0 - POWER) / tried)
        if tried >= _LEAST_TRIALS and abs(found / tried - POWER) > sure:
            break
    return found / tried


def _name(row: int) -> str:
    return f"{row:03d}"


def _calls(noise: Noise) -> float:
    return max(1.0, round(noise.calls))


def _noisy(noise: Noise, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Log-normal autoregressive noise around 1, (s, t)."""
    log_sd = np.sqrt(np.log1p(noise.cv**2))
    logs = rng.normal(0.0, log_sd, shape)
    fresh = np.sqrt(1.0 - noise.phi**2)
    for column in range(1, shape[1]):
        logs[:, column] = noise.phi * logs[:, column - 1] + fresh * logs[:, column]
    noisy: Floats = np.exp(logs - log_sd**2 / 2.0)
    return noisy


def _counters(
    means: Floats, noise: Noise, history: int, spacing: float
) -> list[CounterSeries]:
    calls = np.arange(means.shape[1] + 1.0) * _calls(noise)
    seconds = np.zeros((len(means), means.shape[1] + 1))
    np.cumsum(means * _calls(noise), axis=1, out=seconds[:, 1:])
    times = _AT + spacing * np.arange(-history, means.shape[1] - history + 1.0)
    return [
        CounterSeries(QueryKey("", "", "", _name(row), ""), times, calls, row_seconds)
        for row, row_seconds in enumerate(seconds)
    ]


def _correlation(logs: Floats) -> float:
    """Lag-one autocorrelation, corrected for its bias (Marriott & Pope 1954)."""
    values = logs - logs.mean()
    power = float(values @ values)
    if not power > 0:
        return 0.0
    phi = float(values[1:] @ values[:-1]) / power
    phi += (1.0 + 3.0 * phi) / values.size
    return float(np.clip(phi, -_LARGEST_PHI, _LARGEST_PHI))
