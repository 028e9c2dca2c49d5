"""The evaluator's command line in a process of its own, as an operator uses it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
import yaml
from prometheus_client.parser import text_string_to_metric_families

from lab.process import PATIENCE

# Looks like one that Grafana makes; no output may ever show it.
TOKEN = "glsa_never-to-be-seen"  # noqa: S105


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command left behind."""

    code: int
    output: str
    complaint: str

    @property
    def report(self) -> Any:
        """The report that ``--format json`` printed."""
        return json.loads(self.output)

    @property
    def queries(self) -> dict[str, Any]:
        """The report's queries by their queryid."""
        return {query["queryid"]: query for query in self.report["queries"]}


def evaluator(
    *arguments: object,
    config: Path | None = None,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: str = "",
) -> Ended:
    """Run one command to its end; whatever it says, no trace and no secret is in it."""
    command = [sys.executable, "-m", "evaluator", *map(str, arguments)]
    if config is not None:
        command.append(f"--config.file={config}")
    ended = subprocess.run(
        command,
        input=stdin,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    must_be_fit_to_read(ended.stdout + ended.stderr)
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def must_be_fit_to_read(output: str, secret: str = TOKEN) -> None:
    """No stack trace, and no secret."""
    assert "Traceback" not in output, output
    assert secret not in output, output


def write(folder: Path, config: Mapping[str, Any]) -> Path:
    """A configuration file."""
    path = folder / "evaluator.yml"
    path.write_text(yaml.safe_dump(dict(config), sort_keys=False), encoding="utf-8")
    return path


class Metrics:
    """The samples of one look at /metrics."""

    def __init__(self, url: str) -> None:
        page = requests.get(f"{url}/metrics", timeout=PATIENCE)
        page.raise_for_status()
        self._samples = [
            sample
            for family in text_string_to_metric_families(page.text)
            for sample in family.samples
        ]

    def of(self, name: str, **labels: str) -> list[tuple[dict[str, str], float]]:
        """Labels and value of each sample of *name* that has these labels."""
        return [
            (sample.labels, sample.value)
            for sample in self._samples
            if sample.name == f"pgverdict_{name}"
            and labels.items() <= sample.labels.items()
        ]

    def value(self, name: str, **labels: str) -> float:
        """The value of the only such sample."""
        ((_, value),) = self.of(name, **labels)
        return value
