"""Our own two programs, started as an operator starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .fetch import Tool
from .server import Server

ROOT = Path(__file__).resolve().parents[1]


def _program(environment: Mapping[str, str]) -> Tool:
    return Tool(Path(sys.executable), dict(environment), ROOT)


class Exporter(Server):
    """``python -m exporter`` in front of one PostgreSQL.

    Args:
        dsn: connection string, handed over in the environment.
        flags: more command-line flags.
    """

    name = "exporter"
    ready_path = "/-/healthy"

    def __init__(
        self, dsn: str, *, flags: Sequence[str] = (), port: int | None = None
    ) -> None:
        super().__init__(_program({"PGVERDICT_DSN": dsn}), port=port)
        self._flags = list(flags)

    def arguments(self) -> list[str]:
        address = f"--web.listen-address=127.0.0.1:{self.port}"
        return ["-m", "exporter", address, *self._flags]


class Evaluator(Server):
    """``python -m evaluator run`` with a configuration.

    Args:
        config: the file's content; its state and address are put into it.
        environment: holds the secrets, for example PGVERDICT_GRAFANA_TOKEN.
    """

    name = "evaluator"
    ready_path = "/-/healthy"

    def __init__(
        self,
        config: Mapping[str, Any],
        *,
        environment: Mapping[str, str] | None = None,
        port: int | None = None,
    ) -> None:
        super().__init__(_program(environment or {}), port=port)
        self._config = config

    def arguments(self) -> list[str]:
        return ["-m", "evaluator", "run", f"--config.file={self.configuration()}"]

    def run(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Another command of the program, with the same configuration."""
        config = f"--config.file={self.configuration()}"
        return subprocess.run(
            [sys.executable, "-m", "evaluator", command, config, *arguments],
            cwd=ROOT,
            env={**os.environ, **self._program.environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def configuration(self) -> Path:
        """The file, written anew."""
        state = {"state": str(self.folder / "state.sqlite")}
        web = {"listen_address": f"127.0.0.1:{self.port}"}
        service = {**self._config.get("service", {}), **state}
        whole = {**self._config, "service": service, "web": web}
        return self.write("evaluator.yml", whole)
