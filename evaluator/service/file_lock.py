"""A lock that keeps a second evaluator from the state file of the first."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from ..errors import ConfigurationError


class FileLock:
    """Holds ``PATH.lock`` until it is released; the system does so when we end.

    Args:
        path: the file to protect; ``:memory:`` needs no lock.

    Raises:
        ConfigurationError: another process holds it, or the folder cannot be written.
    """

    def __init__(self, path: str) -> None:
        self._handle: int | None = None
        if path == ":memory:":
            return
        try:
            handle = os.open(Path(f"{path}.lock"), os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise ConfigurationError(
                f"service.state: {path} cannot be written: {error.strerror}; "
                "name a file in a folder that can be written"
            ) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            raise ConfigurationError(
                f"service.state: {path} is held by another evaluator; "
                "stop it, or give this one a file of its own"
            ) from error
        self._handle = handle

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
