"""Makes the virtual environment; needs no more than a bare Python 3.11 of Debian.

``python3 -m lab.bootstrap`` in the checkout. Standard library only. Installs exactly
what the lock names, checked by hash, then the project itself in place.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

from .cache import say
from .debian import DebianError, unpacked

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / ".venv"
LOCK = ROOT / "requirements-dev.lock"


def main() -> int:
    """Make or bring up to date; 3 with one line on stderr where that cannot be done."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this runs under any Python
        say(f"{sys.executable} is too old: pgverdict needs Python 3.11 or newer")
        return 3
    try:
        make_environment()
        _install()
    except DebianError as error:
        say(f"the virtual environment could not be made: {error}")
        return 3
    except subprocess.CalledProcessError:
        say("the installation failed: see pip's message above")
        return 3
    return 0


def make_environment() -> None:
    """Make .venv with pip in it, unless it is there."""
    if (ENVIRONMENT / "bin" / "python").exists():
        return
    say("making the virtual environment .venv")
    # Debian moves ensurepip to a package of its own, python3-venv.
    has_ensurepip = importlib.util.find_spec("ensurepip") is not None
    venv.create(ENVIRONMENT, with_pip=has_ensurepip, symlinks=True)
    if not has_ensurepip:
        wheel = _debians_pip()
        _pip(
            "install", "--no-index", str(wheel), environment={"PYTHONPATH": str(wheel)}
        )


def _debians_pip() -> Path:
    otherwise = "install python3-venv"
    folder = unpacked("python3-pip-whl", otherwise=otherwise)
    wheels = sorted(folder.glob("usr/share/python-wheels/pip-*.whl"))
    if not wheels:
        raise DebianError(f"Debian's python3-pip-whl holds no pip; {otherwise}")
    return wheels[-1]


def _install() -> None:
    say(f"installing what {LOCK.name} names, about a minute the first time")
    _pip("install", "--require-hashes", "--requirement", str(LOCK))
    say("installing pgverdict itself, in place")
    _pip("install", "--no-deps", "--no-build-isolation", "--editable", str(ROOT))


def _pip(*arguments: str, environment: Mapping[str, str] | None = None) -> None:
    command = [str(ENVIRONMENT / "bin" / "python"), "-m", "pip", *arguments]
    # Only what goes wrong: else a line for each package, and for each one left out.
    quiet = ["--quiet", "--progress-bar=off", "--disable-pip-version-check"]
    subprocess.run(
        [*command, *quiet], env={**os.environ, **(environment or {})}, check=True
    )


if __name__ == "__main__":
    sys.exit(main())
