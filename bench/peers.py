"""Peers of the engine in an environment of their own: their pins are not ours."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab.cache import once, say

from .trials import Trial

PEERS = ("apache-otava==0.8.0", "ruptures==1.1.10")
# What their arithmetic needs, in the versions that Otava asks for; its clients of
# databases and chats are not needed here.
NEEDS = ("numpy==2.2.0", "scipy==1.16.3")


def python() -> Path:
    """An interpreter that has the peers, outside the checkout; made once."""

    def make(folder: Path) -> None:
        say("making the environment of the peers")
        # Not a symlink to our own: the environment would be taken for ours.
        subprocess.run(
            [sys._base_executable, "-m", "venv", "--without-pip", str(folder)],  # type: ignore[attr-defined]
            check=True,
        )
        pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
        quiet = ["--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "install", *quiet, *PEERS, *NEEDS], check=True)

    return once("bench-peers-1", make) / "bin" / "python"


def otava(trial: Trial, python: Path) -> NDArray[np.bool_]:
    """(s,) which queries Apache Otava, by that interpreter, blames on the deploy."""
    window = trial.means[:, trial.before - trial.window :]
    with tempfile.TemporaryDirectory() as folder:
        series = Path(folder, "series.npy")
        np.save(series, window)
        script = Path(__file__).with_name("otava_rule.py")
        answer = subprocess.run(
            [
                *(str(python), str(script), str(series)),
                *(str(trial.window), str(0.2 * trial.window)),
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    return np.array([letter == "1" for letter in answer.strip()])
