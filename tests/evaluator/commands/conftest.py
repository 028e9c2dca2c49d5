"""Some hours of history, and a configuration that finds them."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tests.builders import counters, noise

# Short windows, so that a few hours of history hold many moments.
ENGINE = "engine: {window: 10m, min_samples: 5, history: 30m}\n"


@pytest.fixture(scope="module")
def now():
    return float(round(time.time()))


@pytest.fixture(scope="module")
def series(now):
    """Thirty queries over the last six hours; the last one got slower 2 h ago."""
    rng = np.random.default_rng(1)
    found = [
        counters(0.01 * noise(rng, 360, 0.05), queryid=str(n), at=now - 3 * 3600)
        for n in range(29)
    ]
    step = np.where(np.arange(360) < 240, 1.0, 3.0)
    means = 0.02 * noise(rng, 360, 0.05) * step
    return [*found, counters(means, queryid="slow", at=now - 3 * 3600)]


@pytest.fixture
def configured(tmp_path):
    """Writes a configuration for these addresses; gives the argument."""

    def write(prometheus, grafana=None):
        lines = f"prometheus: {{url: '{prometheus}', timeout: 5s}}\n" + ENGINE
        if grafana is not None:
            token = tmp_path / "token"
            token.write_text(grafana.add_token("Editor"))
            lines += f"grafana: {{url: '{grafana.url}', token_file: {token}}}\n"
        path = tmp_path / "evaluator.yml"
        path.write_text(lines)
        return f"--config.file={path}"

    return write
