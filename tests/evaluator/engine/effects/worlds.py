"""Small worlds of statements around one deploy, and what the engine says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evaluator.engine import judge
from evaluator.model import Deploy, Effects, Floats, Settings, Surroundings
from tests.builders import DEPLOY_AT, Counters, deploy, key, noise
from tests.queries import batches

METHOD = Settings()
BEFORE, AFTER = 300, 30  # intervals of a minute: the default history and window


def statement(
    queryid: str,
    *,
    mean: float = 0.01,
    rate: float = 4.0,
    after: float | None = None,
    often: float | None = None,
    begins: int = 0,
    ends: int | None = None,
    entry_ends: int | None = None,
    seed: int = 0,
) -> Counters:
    """One statement, with a little noise in its means and its calls.

    Args:
        mean, rate: seconds per call and calls per second before the deploy.
        after, often: the same since the deploy; None: as before.
        begins, ends: intervals, counted from the deploy, between which it is called;
            its entry is made when it begins, if that is not at the very beginning.
        entry_ends: interval from the deploy after which its entry is gone.
    """
    # By the id, so that a statement is the same whatever else there is.
    rng = np.random.default_rng([seed, *queryid.encode()])
    t = np.arange(-BEFORE, AFTER)
    means = mean * noise(rng, t.size) * np.where(t < 0, 1.0, (after or mean) / mean)
    expected = 60.0 * np.where(t < 0, rate, rate if often is None else often)
    calls = rng.poisson(expected * noise(rng, t.size)).astype(float)
    if ends is not None:
        calls[t >= ends] = 0.0
    times: Floats = DEPLOY_AT + 60.0 * np.arange(-BEFORE, AFTER + 1.0)
    counted: list[Floats] = [1000.0 + _summed(calls), 10.0 + _summed(calls * means)]
    chosen = slice(None)
    if begins:
        chosen = slice(BEFORE + begins, None)
        counted = [one - one[chosen][0] + 5.0 for one in counted]
    elif entry_ends is not None:
        chosen = slice(None, BEFORE + entry_ends)
    return Counters(key(queryid), times[chosen], *(one[chosen] for one in counted))


def _summed(values: Floats) -> Floats:
    sums: Floats = np.concatenate([[0.0], np.cumsum(values)])
    return sums


def background(count: int = 30) -> list[Counters]:
    """Statements to which nothing happens."""
    return [
        statement(f"b{number}", mean=0.002, rate=2.0 + number % 7, seed=1)
        for number in range(count)
    ]


def effects(
    series: Sequence[Counters],
    *,
    texts: Mapping[str, str] = {},
    fingerprints: Mapping[str, str] = {},
    settings: Settings = METHOD,
    look: int | None = None,
    at: Deploy | None = None,
) -> Effects:
    """Texts and fingerprints by query id."""
    around = Surroundings(
        texts={key(queryid): text for queryid, text in texts.items()},
        fingerprints={key(queryid): one for queryid, one in fingerprints.items()},
    )
    return judge(batches(series), at or deploy(), settings, around, look=look).effects


def ids(found: Sequence[object]) -> list[str]:
    """Query ids of findings, in their order."""
    return [one.key.queryid for one in found]  # type: ignore[attr-defined]
