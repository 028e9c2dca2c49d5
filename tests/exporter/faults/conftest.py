"""A server, and an exporter that has scraped it once without a problem."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab.postgres import Postgres

from ..exporting import Exporter, exporting
from ..workload import MONITOR, PASSWORD
from .checks import assert_complete


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with Postgres("17") as running:
        running.execute(f"CREATE ROLE {MONITOR} LOGIN PASSWORD '{PASSWORD}'")
        running.execute(f"GRANT pg_read_all_stats TO {MONITOR}")
        yield running


@pytest.fixture
def exporter(server: Postgres) -> Iterator[Exporter]:
    with exporting(server.dsn) as running:
        assert_complete(running.scrape())
        yield running
