"""What is installed is what was meant: two packages, two programs, no more."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

pytestmark = pytest.mark.servers

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """An environment with nothing in it but the wheel; its libraries are not needed."""
    folder = tmp_path_factory.mktemp("empty") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    before = {path.name for path in site.iterdir()}
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python"]
    subprocess.run(
        [*pip, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True
    )
    return folder, {path.name for path in site.iterdir()} - before


def test_an_empty_environment_gets_exactly_two_packages(installed):
    _, names = installed

    packages = {name for name in names if not name.endswith(".dist-info")}
    assert packages == {"exporter", "evaluator"}


def test_two_programs_are_installed(installed):
    folder, _ = installed

    programs = {path.name for path in (folder / "bin").glob("pgverdict*")}
    assert programs == {"pgverdict-exporter", "pgverdict-evaluator"}


def test_every_file_of_the_packages_is_in_the_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if name.endswith(".py")}

    expected = {
        str(path.relative_to(ROOT))
        for package in ("exporter", "evaluator")
        for path in (ROOT / package).rglob("*.py")
    }
    assert inside == expected


def test_the_generic_names_cannot_reach_a_public_index(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith("dist-info/METADATA")]
        metadata = message_from_bytes(archive.read(name))

    assert metadata["Name"] == "pgverdict"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert "Private :: Do Not Upload" in metadata.get_all("Classifier", [])


def test_every_dependency_is_explained_and_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    explained = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    locked = (ROOT / "requirements.lock").read_text("utf-8")

    for requirement in project["project"]["dependencies"]:
        name = requirement.partition(">=")[0].partition("[")[0]
        assert f" {name} " in explained or f" {name}, " in explained, name
        assert f"\n{name}==" in f"\n{locked}", name
