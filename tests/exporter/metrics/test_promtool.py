"""promtool has no complaint about a page with every metric on it."""

from __future__ import annotations

import os
import subprocess

import pytest

from exporter.metrics.counters import COUNTER_FIELDS
from lab import fetch
from lab.postgres import Postgres

from ..exporting import exporting

EVERYTHING = (
    f"--statements.counters={','.join(COUNTER_FIELDS)}",
    "--statements.limit=5",
    "--texts.enabled=true",
    "--plans.enabled=true",
)


@pytest.mark.servers
@pytest.mark.parametrize("version", ["14", "18"])
def test_names_types_and_help_follow_the_conventions(version: str) -> None:
    tool = fetch.tool("promtool")
    with Postgres(version) as server, exporting(server.dsn, *EVERYTHING) as exporter:
        page = exporter.get().text

    checked = subprocess.run(
        [str(tool.path), "check", "metrics"],
        input=page,
        env={**os.environ, **tool.environment},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
