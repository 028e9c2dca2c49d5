"""Simulate how often the best split falls near the deploy, given the score.

Run ``python -m bench.selection_table`` to write the table beside
``evaluator/engine/noise/selection.py`` again; one core needs some minutes.

A normal autoregression can be moved to any score exactly: x − cov(x, d)/var(d) · (d − z
· sd(d)) has the distribution of x given that the contrast d is z standard deviations.
So no score is too rare to be seen, and no tail has to be fitted.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
from numpy.random import Generator
from scipy.linalg import toeplitz

from evaluator.engine.noise import selection
from evaluator.engine.stats.ar1 import simulate
from evaluator.engine.stats.energy_split import best_splits
from evaluator.model import Floats

DRAWS = 4000
SEED = 20261129
TARGET = Path(selection.__file__).with_name("selection_table.txt")


def chances(
    window: int, after: int, baseline: int, phi: float, *, draws: int, rng: Generator
) -> Floats:
    """Chance of a near split at each of ``selection.SCORES``.

    Args:
        window: intervals of the search before the deploy.
        after: intervals after it.
        baseline: intervals behind the mean before, at least *window*.
        phi: autocorrelation of neighbouring intervals.
    """
    total = baseline + after
    noise = simulate(rng, phi, draws, total)
    weights = np.repeat([-1.0 / baseline, 1.0 / after], [baseline, after])
    with_contrast = toeplitz(phi ** np.arange(total)) @ weights
    variance = float(weights @ with_contrast)
    direction = with_contrast / variance
    free = (noise - np.outer(noise @ weights, direction))[:, baseline - window :]
    direction = direction[baseline - window :]
    found = []
    for score in selection.SCORES:
        splits, _ = best_splits(free + score * np.sqrt(variance) * direction)
        near = np.abs(splits - window) <= selection.TOLERANCE * window
        found.append(near.mean())
    return np.array(found)


def main() -> None:
    """Write the table, one line for each shape and autocorrelation."""
    lines = []
    shapes = product(
        selection.WINDOWS, selection.AFTERS, selection.BASELINES, selection.PHIS
    )
    for number, (window, after, baseline, phi) in enumerate(shapes):
        row = chances(
            window,
            max(1, round(after * window)),
            baseline * window,
            phi,
            draws=DRAWS,
            rng=np.random.default_rng([SEED, number]),
        )
        lines.append(" ".join(f"{chance:.4f}" for chance in row))
    TARGET.write_text(
        "# Made by python -m bench.selection_table; the axes are in selection.py.\n"
        + "\n".join(lines)
        + "\n",
        encoding="ascii",
    )


if __name__ == "__main__":
    main()
