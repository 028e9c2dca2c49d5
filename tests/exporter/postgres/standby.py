"""A primary and a standby that follows it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab import fetch
from lab.postgres import Postgres, server_user

FOLLOWER = "follower"


@contextmanager
def primary_and_standby(version: str = "17") -> Iterator[tuple[Postgres, Postgres]]:
    """Both running; the standby is called FOLLOWER."""
    with (
        Postgres(version) as primary,
        _standby_of(primary) as standby,
    ):
        ((folder,),) = standby.execute("SHOW data_directory")
        standby.stop()
        shutil.rmtree(folder)
        _copy(primary, Path(folder))
        standby.start()
        yield primary, standby


def _standby_of(primary: Postgres) -> Postgres:
    # On the command line, because pg_basebackup may write it for another libpq.
    source = f"{primary.dsn} application_name={FOLLOWER}"
    return Postgres(primary.version, settings={"primary_conninfo": source})


def _copy(primary: Postgres, folder: Path) -> None:
    """Make *folder* the data of a standby that follows *primary*."""
    program = fetch.postgres(primary.version) / "bin" / "pg_basebackup"
    options = ["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]
    subprocess.run(
        [
            program,
            f"--dbname={primary.dsn}",
            f"--pgdata={folder}",
            *options,
        ],
        check=True,
        env={**os.environ, **fetch.postgres_libraries(primary.version)},
    )
    user = server_user()
    if user is not None:
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, user, user)
