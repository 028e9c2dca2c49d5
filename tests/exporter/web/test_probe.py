"""Many servers behind one exporter, each under its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from exporter.cli import settings_from
from lab.postgres import Postgres
from lab.process import free_port

from ..builders import Series, series
from ..exporting import ANY_PORT, PG_UP, Exporter, reasons, running

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Postgres, Postgres]]:
    with Postgres("14") as old, Postgres("18") as new:
        yield old, new


@pytest.fixture
def exporter(servers: tuple[Postgres, Postgres], tmp_path: Path) -> Iterator[Exporter]:
    file, secret = tmp_path / "exporter.yml", tmp_path / "dsn"
    secret.write_text(servers[1].dsn, encoding="utf-8")
    file.write_text(
        f"""
        targets:
          old: {{dsn: "{servers[0].dsn}"}}
          new: {{dsn_file: {secret}}}
          gone: {{dsn: host=127.0.0.1 port={free_port()} user=a}}
        """,
        encoding="utf-8",
    )
    with running(settings_from(["--config.file", str(file), ANY_PORT], {})) as exporter:
        yield exporter


def version(scraped: dict[Series, float]) -> str:
    (labels,) = (dict(labels) for name, labels in scraped if name == "pg_server_info")
    return labels["version"].partition(".")[0]


def test_each_target_is_the_server_of_its_name(exporter: Exporter) -> None:
    old = exporter.scrape("/probe?target=old")
    new = exporter.scrape("/probe?target=new")

    assert (version(old), version(new)) == ("14", "18")
    assert reasons(old) == reasons(new) == set()


def test_a_target_that_is_down_does_not_affect_the_others(exporter: Exporter) -> None:
    gone = exporter.scrape("/probe?target=gone")

    assert gone[PG_UP] == 0
    assert exporter.scrape("/probe?target=new")[PG_UP] == 1


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?target=",
        "?target=nobody",
        "?target=old&target=new",
        "?target=host%3D127.0.0.1%20user%3Dpostgres",
        "?target=postgresql://postgres@127.0.0.1/",
    ],
)
def test_only_configured_names_are_targets(exporter: Exporter, query: str) -> None:
    reply = exporter.get(f"/probe{query}")

    assert reply.status_code == 404
    assert reply.text == "unknown target; configured: old, new, gone\n"


def test_the_telemetry_path_then_shows_only_the_exporter(exporter: Exporter) -> None:
    exporter.scrape("/probe?target=old")

    scraped = exporter.scrape()

    assert PG_UP not in scraped
    scrapes = series("pgverdict_exporter_scrapes_total", target="old", up="true")
    assert scraped[scrapes] == 1


def test_a_probe_does_not_show_the_exporter_itself(exporter: Exporter) -> None:
    scraped = exporter.scrape("/probe?target=old")

    assert not [name for name, _ in scraped if name.startswith("process_")]


def test_the_landing_page_names_the_targets(exporter: Exporter) -> None:
    assert '<a href="/probe?target=old">old</a>' in exporter.get("/").text
