"""Hours of samples in a real Prometheus at once: they are written as its own blocks."""

from __future__ import annotations

import os
import subprocess

from . import fetch
from .prometheus import Prometheus


def backfill(prometheus: Prometheus, samples: str) -> None:
    """Give a server that was not started yet what it would have scraped.

    Args:
        samples: OpenMetrics with times in seconds, grouped by metric, ended by # EOF.

    Raises:
        CalledProcessError: promtool does not take them.
    """
    written = prometheus.folder / "samples.txt"
    written.write_text(samples, encoding="utf-8")
    promtool = fetch.debian_tool("promtool")
    command = ["tsdb", "create-blocks-from", "openmetrics", "--quiet"]
    subprocess.run(
        [promtool.path, *command, written, prometheus.folder / "data"],
        env={**os.environ, **promtool.environment},
        check=True,
    )
