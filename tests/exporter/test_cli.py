"""The program as a person meets it: version, help, exit codes, its two names."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points, version

import pytest

from exporter import cli
from exporter.web.server import WebServer


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "exporter", *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_the_version_is_that_of_the_distribution() -> None:
    ended = run("--version")

    assert ended.stdout == f"pgverdict-exporter {version('pgverdict')}\n"
    assert ended.returncode == 0


def test_help_shows_exit_codes_and_an_example() -> None:
    ended = run("--help")

    assert "Exit codes: 0 stopped by a signal, 2 configuration." in ended.stdout
    assert "Example: PGVERDICT_DSN=" in ended.stdout.replace("\n", " ")


def test_wrong_settings_give_exit_code_2_and_one_line_each() -> None:
    ended = run("--log.level=loud", "--scrape.timeout=soon", "--dsn=nonsense")

    lines = ended.stderr.splitlines()
    assert ended.returncode == 2
    assert len(lines) == 3
    assert all(line.startswith("pgverdict-exporter: --") for line in lines)


def test_the_script_and_the_module_are_the_same_program() -> None:
    (script,) = entry_points(group="console_scripts", name="pgverdict-exporter")

    assert script.load() is cli.main


@pytest.fixture
def taken() -> Iterator[str]:
    """An address that is in use."""
    server = WebServer(lambda *_: [], ("127.0.0.1", 0))
    server.start()
    yield server.address
    server.stop()


def test_an_address_in_use_gives_exit_code_2(taken: str) -> None:
    ended = run("--dsn=host=a", f"--web.listen-address={taken}")

    assert ended.returncode == 2
    assert f"--web.listen-address: {taken} cannot be used" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_flag_without_its_value_is_reported() -> None:
    ended = run("--dsn")

    assert ended.returncode == 2
    assert ended.stderr == "pgverdict-exporter: --dsn: needs a value\n"
