"""Hours of history in a real Prometheus, and a configuration that finds them."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from lab import fetch
from lab.history import backfill
from lab.prometheus import Prometheus
from tests.builders import counters, noise
from tests.evaluator.history import openmetrics_of

# Short windows, so that a few hours of history hold many moments.
ENGINE = "engine: {window: 10m, min_samples: 5, history: 30m}\n"


@pytest.fixture(scope="package")
def now():
    return float(round(time.time()))


@pytest.fixture(scope="package")
def remembered(now):
    """A Prometheus with six hours of thirty queries; the last got slower 2 h ago."""
    rng = np.random.default_rng(1)
    found = [
        counters(0.01 * noise(rng, 360, 0.05), queryid=str(n), at=now - 3 * 3600)
        for n in range(29)
    ]
    step = np.where(np.arange(360) < 240, 1.0, 3.0)
    means = 0.02 * noise(rng, 360, 0.05) * step
    found.append(counters(means, queryid="slow", at=now - 3 * 3600))
    prometheus = Prometheus(fetch.debian_tool("prometheus"))
    backfill(prometheus, openmetrics_of(found))
    with prometheus:
        yield prometheus.url


@pytest.fixture
def configured(tmp_path):
    """Writes a configuration for these addresses; gives the argument."""

    def write(prometheus, grafana=None, selector=""):
        reading = f"url: '{prometheus}', selector: {json.dumps(selector)}, timeout: 5s"
        lines = f"prometheus: {{{reading}}}\n" + ENGINE
        if grafana is not None:
            token = tmp_path / "token"
            token.write_text(grafana.add_token("Editor"))
            lines += f"grafana: {{url: '{grafana.url}', token_file: {token}}}\n"
        path = tmp_path / "evaluator.yml"
        path.write_text(lines)
        return f"--config.file={path}"

    return write
