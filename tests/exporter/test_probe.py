"""Many servers behind one exporter, each by its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from exporter.cli import settings_from
from lab.postgres import Postgres
from lab.process import free_port

from .builders import series
from .exporting import ANY_PORT, PG_UP, Exporter, reasons, running

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


def version(found: dict[tuple[str, tuple[tuple[str, str], ...]], float]) -> str:
    (labels,) = (dict(labels) for name, labels in found if name == "pg_server_info")
    return labels["version"].partition(".")[0]


def test_each_target_is_the_server_of_its_name(exporter: Exporter) -> None:
    old = exporter.scrape("/probe?target=old")
    new = exporter.scrape("/probe?target=new")

    assert (version(old), version(new)) == ("14", "18")
    assert reasons(old) == reasons(new) == set()


def test_a_target_that_is_down_does_not_touch_the_others(exporter: Exporter) -> None:
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
def test_only_names_of_the_configuration_are_targets(
    exporter: Exporter, query: str
) -> None:
    reply = exporter.get(f"/probe{query}")

    assert reply.status_code == 404
    assert reply.text == "unknown target; one of: old, new, gone\n"


def test_the_telemetry_path_tells_of_the_exporter_only(exporter: Exporter) -> None:
    exporter.scrape("/probe?target=old")

    found = exporter.scrape()

    assert PG_UP not in found
    scraped = series("pgverdict_exporter_scrapes_total", target="old", up="true")
    assert found[scraped] == 1


def test_the_exporter_does_not_tell_of_itself_in_a_probe(exporter: Exporter) -> None:
    found = exporter.scrape("/probe?target=old")

    assert not [name for name, _ in found if name.startswith("process_")]


def test_the_landing_page_names_the_targets(exporter: Exporter) -> None:
    assert '<a href="/probe?target=old">old</a>' in exporter.get("/").text
