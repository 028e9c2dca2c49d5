"""What happened to the server at another time than the deploy, by empirical Bayes.

A backup that begins ten minutes after the deploy slows many queries; the best split of
a noisy one falls near the deploy by chance. All queries together know better. Each
query has one change or none; with the Bayes factor B of a change at place k (normal
prior on its size) and a common prior π of the places,

    posterior of k for i = π of k · B of i, k / sum over all places

and π is the mean of the posteriors (EM). Where π has a peak of 3 % or more outside the
tolerance, queries whose posterior is larger there than near the deploy belong to it.

References:
    Efron & Morris 1973; Dempster, Laird & Rubin 1977; the Bayes factor is Zellner's g.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model import Flags, Floats, Places

# Fewest intervals on each side of a change.
_LEAST = 3
# Deviation of a change before it is seen, in deviations of one interval: a half to
# twice the time of a query with the usual noise.
_PRIOR_SIZE = 1.5
_STEPS = 25
# Share of the queries that make a peak.
_PEAK = 0.03
# The deploy has to be so many times as likely as an event that others share: at 1 a
# backup near the deploy gives 3 false alarms, at 5 half of them, for .03 of the power.
_ODDS = 5.0
# A place is known to one interval more or less.
_BESIDE = 1


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """What s queries have to do with events at another time than the deploy.

    Args:
        place: (s,) interval that begins after the likeliest; -1 where the deploy is
            likelier, or without any event. Without a change, too, the event is.
        moved: (s,) whether such a change is likelier than none.
    """

    place: Places
    moved: Flags


def events_elsewhere(
    values: Floats, inflation: Floats, near: Flags, learners: Flags
) -> Events:
    """Find the events, and the queries that they moved.

    Args:
        values: (s, n) residuals of the window in deviations of the history, 0 where
            absent.
        inflation: (s,) variance of a long mean over that of independent intervals.
        near: (n,) intervals whose start lies inside the tolerance.
        learners: (s,) queries that make the prior.
    """
    s, n = values.shape
    none = Events(np.full(s, -1), np.zeros(s, dtype=bool))
    if n <= 2 * _LEAST:
        return none
    places = np.arange(_LEAST, n - _LEAST + 1)
    bayes = _bayes_factors(values, inflation, places)
    prior = _prior(bayes[learners])
    close = near[places]
    peaks = _peaks(prior[1:], ~close)
    if not peaks.size:
        return none
    posterior = bayes * prior
    own = posterior[:, 1:]
    found = none.place
    best = own[:, close].sum(axis=1) / _ODDS
    for peak in peaks:
        there = np.abs(np.arange(places.size) - peak) <= _BESIDE
        mass = own[:, there & ~close].sum(axis=1)
        found = np.where(mass > best, places[peak], found)
        best = np.maximum(best, mass)
    return Events(found, (found >= 0) & (best > posterior[:, 0]))


def _bayes_factors(values: Floats, inflation: Floats, places: Places) -> Floats:
    """(s, 1 + places) of no change, which is 1, and of one at each place."""
    s, n = values.shape
    so_far = np.cumsum(values, axis=1)
    left = so_far[:, places - 1]
    total = so_far[:, -1:]
    right = total - left
    difference = right / (n - places) - left / places
    known = (places * (n - places) / n) / inflation[:, None]
    gain = _PRIOR_SIZE**2 * known
    exponent = 0.5 * difference**2 * known * gain / (1.0 + gain)
    logs = np.minimum(exponent - 0.5 * np.log1p(gain), 300.0)
    bayes: Floats = np.concatenate([np.ones((s, 1)), np.exp(logs)], axis=1)
    return bayes


def _prior(bayes: Floats) -> Floats:
    """(1 + places,) by expectation and maximisation."""
    places = bayes.shape[1] - 1
    prior = np.concatenate([[0.5], np.full(places, 0.5 / places)])
    for _ in range(_STEPS):
        posterior = bayes * prior
        posterior /= posterior.sum(axis=1, keepdims=True)
        prior = posterior.mean(axis=0)
    return prior


def _peaks(prior: Floats, elsewhere: Flags) -> Places:
    """Places around which the prior has its peaks, where they may be."""
    around = np.convolve(
        np.where(elsewhere, prior, 0.0), np.ones(2 * _BESIDE + 1), "same"
    )
    highest = np.array(
        [
            around[k] >= around[max(k - _BESIDE, 0) : k + _BESIDE + 1].max()
            for k in range(prior.size)
        ],
        dtype=bool,
    )
    return np.flatnonzero(elsewhere & highest & (around >= _PEAK))
