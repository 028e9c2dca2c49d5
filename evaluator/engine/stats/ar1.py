"""The first-order autoregression: its coefficient from data, and data from it.

References:
    Marriott & Pope 1954, Bias in the estimation of autocorrelations: the estimate
    around an estimated mean is low by (1 + 3 phi) / t, to the first order.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from ...model import Floats
from .moments import TINY, weighted_sum

# Beyond this the correlation cannot be distinguished from a trend.
LARGEST_PHI = 0.95


def lag_one(noise: Floats) -> Floats:
    """(s,) correlation of neighbours in (s, t) values around 0, biased as it comes."""
    products = weighted_sum(noise[:, 1:], noise[:, :-1])
    return products / np.maximum(weighted_sum(noise, noise), TINY)


def phi_around_one_mean(noise: Floats) -> Floats:
    """(s,) lag-one autocorrelation of (s, t) noise around its own mean, corrected."""
    phi = lag_one(noise)
    phi += (1.0 + 3.0 * phi) / noise.shape[1]
    inside: Floats = np.clip(phi, -LARGEST_PHI, LARGEST_PHI)
    return inside


def phi_around_two_means(noise: Floats, count: Floats | int) -> Floats:
    """The same where the mean of each side of a split was taken out; 0 or more.

    Two means cost about twice the bias of one.

    Args:
        noise: (s, t), 0 where absent.
        count: how many of the values are there, (s,) or one number for all.
    """
    phi = lag_one(noise)
    phi += (2.0 + 4.0 * phi) / count
    inside: Floats = np.clip(phi, 0.0, LARGEST_PHI)
    return inside


def inflation(phi: Floats) -> Floats:
    """Variance of a long mean over that of as many independent values."""
    inflated: Floats = (1.0 + phi) / (1.0 - phi)
    return inflated


def simulate(rng: Generator, phi: Floats | float, s: int, t: int) -> Floats:
    """(s, t) standard normal noise with lag-one correlation *phi*, a number or (s,)."""
    values = rng.standard_normal((s, t))
    fresh = np.sqrt(1.0 - np.square(phi))
    for column in range(1, t):
        values[:, column] = phi * values[:, column - 1] + fresh * values[:, column]
    return values
