"""Hours of samples in a real Prometheus or VictoriaMetrics at once."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

import requests

from . import fetch
from .process import PATIENCE
from .prometheus import Prometheus
from .victoriametrics import VictoriaMetrics


def backfill(prometheus: Prometheus, samples: str) -> None:
    """Let a server that was not started yet remember *samples*; see `write_blocks`."""
    write_blocks(samples, prometheus.folder / "data")


def write_blocks(samples: str | Iterable[str], data: Path) -> None:
    """Write blocks of Prometheus' storage, as if it had scraped the samples.

    Args:
        samples: OpenMetrics with times in seconds, grouped by metric, ended by # EOF;
            or pieces of it.
        data: the storage's folder; made here, in one that exists.

    Raises:
        CalledProcessError: promtool does not take them.
    """
    promtool = fetch.debian_tool("promtool")
    command = ["tsdb", "create-blocks-from", "openmetrics", "--quiet"]
    with tempfile.NamedTemporaryFile("w", dir=data.parent, encoding="utf-8") as text:
        text.writelines([samples] if isinstance(samples, str) else samples)
        text.flush()
        subprocess.run(
            [promtool.path, *command, text.name, data],
            env={**os.environ, **promtool.environment},
            check=True,
        )


def import_samples(victoria: VictoriaMetrics, samples: str) -> None:
    """Give a running server samples, visible to the first query that follows.

    Args:
        samples: Prometheus' text format with times in milliseconds.
    """
    url = f"{victoria.url}/api/v1/import/prometheus"
    answer = requests.post(url, samples.encode(), timeout=PATIENCE)
    answer.raise_for_status()
    victoria.show()
