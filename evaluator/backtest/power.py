"""How much data a rise needs to be seen: by formula, and by trying the engine.

References:
    Sample size of two means: n = 2 · (z(0.975) + z(0.8))² · CV² / δ² on each side, that
    is 15.7 · CV² / δ², for four of five at a level of 0.05, a split known beforehand,
    and independent normal values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from scipy.special import ndtri

from ..model import CounterSeries, Deploy, IntervalMeans, Outcome, Settings, Verdict
from ..model.sample_size import Noise, Price
from ..model.series import Floats, QueryKey

Rule: TypeAlias = Callable[
    [Sequence[CounterSeries], Deploy, Settings], Sequence[Verdict]
]

# A rise counts as seen when it is found in four of five deploys.
POWER = 0.8
# Windows that are tried, intervals on each side.
WINDOWS = (10, 15, 20, 30, 45, 60, 90, 120, 180, 240)
# Queries of one simulated deploy, and how many of them get slower. The classic engine
# judges each alone, so that the others need not be there.
_FAMILY, _REGRESSED = 400, 4
_ALONE = 25
# Regressed queries that are tried, if that many are needed to tell.
_TRIALS, _LEAST_TRIALS = 100, 12
# Windows of history in front of a simulated deploy, at most.
_HISTORY = 8
# Fewest intervals that tell a noise.
_LEAST_INTERVALS = 20
_NORMAL_MAD = 0.6744897501960817
_LARGEST_PHI = 0.95
_LEAST_SHARE = 1e-3
_LEAST_CV = 1e-3
_AT = 1_500_000_000.0


def intervals_needed(cv: float, rise: float) -> int:
    """Values on each side of a known split that show *rise* in four of five.

    Args:
        cv: standard deviation over mean of one value.
        rise: fraction above 0, 0.2 for +20 %.
    """
    both = float(ndtri(0.975) + ndtri(POWER))
    return max(2, int(np.ceil(2.0 * both**2 * cv**2 / rise**2)))


def least_factor(
    scatter: float, *, threshold: float, alpha: float, queries: float = 1.0
) -> float:
    """The least factor that is found in four of five deploys.

    Args:
        scatter: standard deviation of the logarithm of the factor without a change.
        threshold: of the pre-filter, which sees the factor with the scatter on it.
        alpha: one-sided level.
        queries: that share the level, of which one got slower.
    """
    missed = float(ndtri(POWER)) * scatter
    rare = -float(ndtri(alpha / max(1.0, queries)))
    least = max(np.log1p(threshold) + missed, rare * scatter + missed)
    return float(np.exp(least))


def noise_of(intervals: IntervalMeans) -> Noise | None:
    """Measure the noise of one query; a change inside counts as noise.

    The spread is the median distance from the median, of logarithms, so that a few
    outliers do not rule it.

    Returns:
        None when there are too few intervals to tell.
    """
    if intervals.means.size < _LEAST_INTERVALS:
        return None
    level = float(np.median(intervals.means))
    if not level > 0:
        return None
    logs = np.log(np.maximum(intervals.means / level, _LEAST_SHARE))
    spread = float(np.median(np.abs(logs))) / _NORMAL_MAD
    span = float(intervals.ends[-1] - intervals.starts[0])
    return Noise(
        cv=max(_LEAST_CV, float(np.sqrt(np.expm1(min(spread, 3.0) ** 2)))),
        phi=_correlation(np.clip(logs, -4.0 * spread, 4.0 * spread)),
        calls=float(np.median(intervals.calls)),
        spacing=span / intervals.means.size,
        key=intervals.key,
    )


def price(
    noise: Noise,
    rise: float,
    settings: Settings,
    rule: Rule,
    rng: np.random.Generator,
) -> Price:
    """Find the shortest window in which *rule* finds *rise* in four of five deploys.

    A rise that does not stand clear of the pre-filter is never seen reliably, however
    long the window; it is tried with a threshold of half its size.

    Args:
        noise: what all queries of the simulated deploys have.
        rise: fraction, 0.2 for +20 %.
        settings: the window in it is not used.
    """
    threshold = settings.threshold if rise > settings.threshold else rise / 2.0
    settings = replace(settings, threshold=threshold)
    asymptotic = intervals_needed(noise.cv, rise)
    least = max(settings.min_samples, np.ceil(settings.min_calls / _calls(noise)))
    # Nothing finds a rise in far less than the formula for a split that is known.
    least = max(least, min(asymptotic / 2, WINDOWS[-1]))
    power = 0.0
    for window in (w for w in WINDOWS if w >= least):
        power = share_found(noise, rise, window, settings, rule, rng)
        if power >= POWER:
            return Price(rise, threshold, asymptotic, window, power, WINDOWS[-1])
    return Price(rise, threshold, asymptotic, None, power, WINDOWS[-1])


def share_found(
    noise: Noise,
    rise: float,
    window: int,
    settings: Settings,
    rule: Rule,
    rng: np.random.Generator,
) -> float:
    """Share of regressed queries that *rule* finds, one in a hundred of a deploy.

    Stops as soon as the share is clearly not four of five.

    Args:
        window: intervals on each side.
    """
    step = float(max(1, round(noise.spacing)))
    settings = replace(settings, window=window * step)
    queries, regressed, history = _ALONE, _ALONE, window
    if settings.engine != "classic":
        queries, regressed = _FAMILY, _REGRESSED
        longest = min(int(settings.history / step), _HISTORY * window)
        history = max(window, longest)
    deploy = Deploy("simulated", _AT)
    slower = {_name(row) for row in range(regressed)}
    found = tried = 0
    while tried < _TRIALS:
        means = _noisy(noise, (queries, history + window), rng)
        means[:regressed, history:] *= 1.0 + rise
        verdicts = rule(_counters(means, noise, history, step), deploy, settings)
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
    spread = np.sqrt(np.log1p(noise.cv**2))
    logs = rng.normal(0.0, spread, shape)
    fresh = np.sqrt(1.0 - noise.phi**2)
    for column in range(1, shape[1]):
        logs[:, column] = noise.phi * logs[:, column - 1] + fresh * logs[:, column]
    noisy: Floats = np.exp(logs - spread**2 / 2.0)
    return noisy


def _counters(
    means: Floats, noise: Noise, history: int, step: float
) -> list[CounterSeries]:
    calls = np.arange(means.shape[1] + 1.0) * _calls(noise)
    seconds = np.zeros((len(means), means.shape[1] + 1))
    np.cumsum(means * _calls(noise), axis=1, out=seconds[:, 1:])
    times = _AT + step * np.arange(-history, means.shape[1] - history + 1.0)
    return [
        CounterSeries(QueryKey("", "", "", _name(row), ""), times, calls, one)
        for row, one in enumerate(seconds)
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
