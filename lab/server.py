"""What the HTTP servers of the lab share: a folder, an address, start and stop."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

import requests
import yaml

from .fetch import Tool
from .process import Process, free_port

HTTP_SECONDS = 60


class Server(ABC):
    """A program with an HTTP port and a folder of its own; a context manager.

    The folder with configuration and data lives until the block ends, so that a server
    stopped and started again remembers.
    """

    name: ClassVar[str]
    ready_path: ClassVar[str] = "/-/ready"

    def __init__(self, program: Tool, *, port: int | None = None) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._program = program
        self._temporary = tempfile.TemporaryDirectory(prefix=f"{self.name}-")
        self.folder = Path(self._temporary.name)
        self._process: Process | None = None

    @abstractmethod
    def arguments(self) -> list[str]:
        """Command line after the program; may write files into the folder first."""

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self._temporary.cleanup()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.stop()
        finally:
            self._temporary.cleanup()

    def start(self) -> None:
        """Start with a freshly written configuration; wait until ready."""
        self._process = Process(
            self.name,
            [self._program.path, *self.arguments()],
            log=self.folder / "log",
            ready=self._answers,
            environment=self._program.environment,
            folder=self._program.folder,
        )
        self._process.start()

    def stop(self) -> None:
        """Stop in order; fine when it does not run."""
        if self._process is not None:
            self._process.stop()

    def restart(self) -> None:
        """Stop and start."""
        self.stop()
        self.start()

    @property
    def process(self) -> Process:
        """The running program."""
        if self._process is None:
            raise RuntimeError(f"use {self.name} in a with statement")
        return self._process

    def get(self, path: str, **parameters: str) -> Any:
        """The decoded JSON answer to a GET; HTTPError where the status is not 2xx."""
        answer = requests.get(self.url + path, params=parameters, timeout=HTTP_SECONDS)
        answer.raise_for_status()
        return answer.json()

    def write(self, name: str, content: Mapping[str, Any]) -> Path:
        """Put *content* as YAML into the folder."""
        path = self.folder / name
        path.write_text(yaml.safe_dump(dict(content), sort_keys=False), "utf-8")
        return path

    def _answers(self) -> bool:
        return requests.get(self.url + self.ready_path, timeout=2).ok
