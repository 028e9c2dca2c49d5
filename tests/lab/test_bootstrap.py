"""The virtual environment can be made on a Debian that lacks python3-venv."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

from lab import bootstrap


@pytest.mark.servers
def test_without_ensurepip_the_pip_of_debians_package_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "ENVIRONMENT", tmp_path / "venv")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)

    bootstrap.make_environment()

    pip = [str(tmp_path / "venv/bin/python"), "-m", "pip", "--version"]
    version = subprocess.run(pip, capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) in version
