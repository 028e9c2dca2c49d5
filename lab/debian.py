"""Debian packages unpacked into a folder: nothing is installed, root is not needed.

Standard library only, because the virtual environment itself may need a package.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .cache import alone, cache_folder, once, say

DOWNLOAD_SECONDS = 300


class DebianError(Exception):
    """A package could not be had; the message names it, and what to do instead."""


def unpacked(package: str, *, otherwise: str, assets: str = "") -> Path:
    """Folder with the files of *package* and of the libraries it lacks here.

    Args:
        package: name of a Debian package.
        otherwise: what a person can do without it, to end the error's sentence.
        assets: absolute folder in which its programs look for their files. It is made
            relative in them: they find the files when started in the folder returned.
    """

    def make(folder: Path) -> None:
        say(f"fetching Debian's {package}")
        try:
            _unpack_with_libraries(package, folder)
            if assets:
                _make_relative(assets, folder)
        except (OSError, subprocess.SubprocessError) as error:
            raise DebianError(
                f"Debian's package {package} could not be fetched "
                f"({_reason(error)}); {otherwise}"
            ) from error

    return once(f"debian-{_release()}-{package}", make)


def _unpack_with_libraries(package: str, folder: Path) -> None:
    waiting, seen = [package], {package}
    while waiting:
        downloads = folder / ".download"
        downloads.mkdir()
        _download(waiting, downloads)
        waiting = []
        for archive in sorted(downloads.glob("*.deb")):
            _run(["dpkg-deb", "--extract", str(archive), str(folder)])
            waiting += [name for name in _libraries(archive) if name not in seen]
            seen.update(waiting)
        shutil.rmtree(downloads)
    # 212 MB of time zones as text; the scripts beside them hold them, too.
    zones = folder / "usr/share/javascript/moment-timezone/data"
    shutil.rmtree(zones, ignore_errors=True)


def _make_relative(assets: str, folder: Path) -> None:
    """Drop the leading slash of a path compiled into programs, keeping its length."""
    relative = assets[1:].replace("/", "//", 1)
    for program in (folder / "usr/bin").iterdir():
        content = program.read_bytes()
        program.write_bytes(content.replace(assets.encode(), relative.encode()))


def _libraries(archive: Path) -> list[str]:
    """Libraries that *archive* needs and that its programs would not find here.

    Those for web pages are looked for beside the program, installed or not.
    """
    depends = _run(["dpkg-deb", "--field", str(archive), "Depends"])
    first = [entry.split("|")[0].split("(")[0].strip() for entry in depends.split(",")]
    return [
        name
        for name in first
        if name.startswith("libjs-")
        or (name.startswith("lib") and not _installed(name))
    ]


def _installed(package: str) -> bool:
    asked = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package],
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout == "installed"


def _download(packages: Sequence[str], folder: Path) -> None:
    """Download by the system's package lists, else by private ones, else by fresh ones.

    The system's may be missing or so old that what they name is gone.
    """
    download = ["download", *packages]
    if not _complaint(download, [], folder):
        return
    with alone("apt"):
        private = _private_lists()
        if not _complaint(download, private, folder):
            return
        say("reading Debian's package lists")
        # One source that fails need not matter; the download shows whether it did.
        _complaint(["update"], private, folder)
        if complaint := _complaint(download, private, folder):
            raise OSError(complaint)


def _private_lists() -> list[str]:
    """Options for apt-get to keep its package lists in our cache."""
    base = cache_folder() / "apt"
    for part in ("lists/partial", "cache/archives/partial"):
        (base / part).mkdir(parents=True, exist_ok=True)
    return [
        f"--option=Dir::State::lists={base}/lists",
        f"--option=Dir::Cache={base}/cache",
    ]


def _complaint(command: Sequence[str], options: Sequence[str], folder: Path) -> str:
    """Run apt-get; what it complained of, or nothing."""
    # Root's apt would switch to a user that may not write into our folders.
    as_we_are = ["--option=APT::Sandbox::User=root", "--option=Debug::NoLocking=1"]
    try:
        _run(["apt-get", *as_we_are, *options, *command], cwd=folder)
    except subprocess.CalledProcessError as error:
        return _reason(error)
    return ""


def _run(command: Sequence[str], cwd: Path | None = None) -> str:
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=DOWNLOAD_SECONDS,
        check=True,
    ).stdout


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = str(error.stderr).strip().splitlines()
        return lines[-1] if lines else f"exit code {error.returncode}"
    return str(error)


def _release() -> str:
    try:
        facts = Path("/etc/os-release").read_text(encoding="utf-8")
    except FileNotFoundError:
        return "unknown"
    fields = dict(line.split("=", 1) for line in facts.splitlines() if "=" in line)
    return fields.get("VERSION_CODENAME", "unknown").strip('"')
