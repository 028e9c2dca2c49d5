"""Slow twins of the engine's fast functions, each as near to its definition as can be.

Written from the definitions, loop by loop, with nothing taken from the fast ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product

from scipy import integrate, special


def best_split(x: Sequence[float]) -> tuple[int, float]:
    """The smallest split with the largest energy statistic, by the definition."""
    n = len(x)
    m = max(3, n // 10)
    candidates = [(energy(x[:k], x[k:]), k) for k in range(m, n - m + 1)]
    largest = max(q for q, _ in candidates)
    return min(k for q, k in candidates if q == largest), largest


def energy(a: Sequence[float], b: Sequence[float]) -> float:
    across = [abs(x - y) for x, y in product(a, b)]
    within_a = [abs(x - y) for x, y in combinations(a, 2)]
    within_b = [abs(x - y) for x, y in combinations(b, 2)]
    weight = 2.0 * len(a) * len(b) / (len(a) + len(b))
    return weight * (_mean(across) - _mean(within_a) / 2 - _mean(within_b) / 2)


def welch(a: Sequence[float], b: Sequence[float]) -> tuple[float, float, float]:
    """t, degrees of freedom and two-sided p, the p by integrating Student's density."""
    ea, eb = _variance(a) / len(a), _variance(b) / len(b)
    t = (_mean(b) - _mean(a)) / math.sqrt(ea + eb)
    nu = (ea + eb) ** 2 / (ea**2 / (len(a) - 1) + eb**2 / (len(b) - 1))
    scale = math.exp(special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2))
    scale /= math.sqrt(nu * math.pi)

    def density(u: float) -> float:
        return scale * float((1 + u * u / nu) ** (-(nu + 1) / 2))

    tail, _ = integrate.quad(density, abs(t), math.inf, epsabs=0, epsrel=1e-11)
    return t, nu, 2.0 * float(tail)


def interval_means(
    rows: Sequence[tuple[float, float, float]],
    since: Sequence[float] | None,
    max_gap: float,
) -> tuple[list[tuple[float, float, float, float]], dict[str, int]]:
    """Usable intervals as (start, end, calls, seconds), and the dropped by reason."""
    usable = []
    dropped = {"reset": 0, "gap": 0, "idle": 0}
    for i in range(len(rows) - 1):
        (start, c0, s0), (end, c1, s1) = rows[i], rows[i + 1]
        renewed = since is not None and (
            not math.isnan(since[i])
            and not math.isnan(since[i + 1])
            and since[i] != since[i + 1]
        )
        if c1 < c0 or s1 < s0 or renewed:
            dropped["reset"] += 1
        elif end - start > max_gap:
            dropped["gap"] += 1
        elif c1 == c0:
            dropped["idle"] += 1
        else:
            usable.append((start, end, c1 - c0, s1 - s0))
    return usable, dropped


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    mean = _mean(values)
    return math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1)
