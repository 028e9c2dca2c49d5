"""Required sample size: by formula, and by simulating deploys for the engine.

References:
    Sample size of two means: n = 2 · (z(0.975) + z(0.8))² · CV² / δ² on each side, that
    is 15.7 · CV² / δ², for a power of 0.8 at a level of 0.05, a split known beforehand,
    and independent normal values.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from ..engine.stats.ar1 import phi_around_one_mean
from ..engine.stats.moments import NORMAL_MAD
from ..model import Floats, QueryIntervals, Settings
from ..model.sample_size import Noise, SampleSize
from .simulation import POWER, calls_of, simulated_power

# Numbers of intervals on each side that are simulated.
INTERVALS = (10, 15, 20, 30, 45, 60, 90, 120, 180, 240)
# Fewest intervals from which the noise of a query is measured.
_LEAST_INTERVALS = 20
_LEAST_SHARE = 1e-3
_LEAST_CV = 1e-3


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


def noise_of(intervals: QueryIntervals) -> Noise | None:
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
    log_sd = float(np.median(np.abs(logs))) / NORMAL_MAD
    span = float(intervals.ends[-1] - intervals.starts[0])
    return Noise(
        cv=max(_LEAST_CV, float(np.sqrt(np.expm1(min(log_sd, 3.0) ** 2)))),
        phi=_phi(np.clip(logs, -4.0 * log_sd, 4.0 * log_sd)),
        calls=float(np.median(intervals.calls)),
        spacing=span / intervals.means.size,
        key=intervals.key,
    )


def required_sample_size(
    noise: Noise,
    rise: float,
    settings: Settings,
    rng: np.random.Generator,
) -> SampleSize:
    """Find the fewest intervals in which *rise* is found in four of five deploys.

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
    least = max(settings.min_samples, np.ceil(settings.min_calls / calls_of(noise)))
    # No test needs much less than the formula for a split that is known.
    least = max(least, min(formula / 2, INTERVALS[-1]))
    power = 0.0
    for intervals in (number for number in INTERVALS if number >= least):
        power = simulated_power(noise, rise, intervals, settings, rng)
        if power >= POWER:
            return SampleSize(rise, threshold, formula, intervals, power, INTERVALS[-1])
    return SampleSize(rise, threshold, formula, None, power, INTERVALS[-1])


def _phi(logs: Floats) -> float:
    """Lag-one autocorrelation around the mean; 0 where nothing varies."""
    values = logs - logs.mean()
    return float(phi_around_one_mean(values[None, :])[0]) if values.any() else 0.0
