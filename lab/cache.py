"""A folder outside the checkout for what is fetched or built once.

Standard library only: it also serves the making of the virtual environment.
``PGVERDICT_CACHE`` names it; else ``/var/cache/pgverdict`` for root, so that the
unprivileged user that then runs PostgreSQL can read it, and the user's own cache folder
for everyone else.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """The folder, made if need be, readable for everyone."""
    if chosen := os.environ.get("PGVERDICT_CACHE"):
        folder = Path(chosen)
    elif os.geteuid() == 0:
        folder = Path("/var/cache/pgverdict")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base) / "pgverdict"
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    return folder.resolve()


def once(name: str, make: Callable[[Path], None], within: Path | None = None) -> Path:
    """The folder *name* in the cache; where it is absent, *make* fills it first.

    Two processes at once: one makes, the other waits. A *make* that fails or is killed
    leaves nothing behind that could be mistaken for a finished folder.

    Args:
        within: another folder than the cache.
    """
    target = (within or cache_folder()) / name
    if target.exists():
        return target
    with alone(name, within):
        if target.exists():
            return target
        staging = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=target.parent))
        try:
            staging.chmod(0o755)
            make(staging)
            staging.rename(target)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return target


@contextmanager
def alone(name: str, within: Path | None = None) -> Iterator[None]:
    """No other process is in a block of this *name* meanwhile."""
    with ((within or cache_folder()) / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def say(text: str) -> None:
    """Show progress at once; on stderr, so that results can be piped."""
    print(text, file=sys.stderr, flush=True)
