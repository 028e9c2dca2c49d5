"""A real pgbouncer in front of a lab PostgreSQL."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg
from psycopg.conninfo import make_conninfo

from . import fetch
from .postgres import PASSWORD, SUPERUSER, Postgres, server_user
from .process import Process, free_port


class Pgbouncer:
    """A pooler on a loopback port; a context manager.

    Args:
        postgres: where connections go.
        pool_mode: ``session``, ``transaction`` or ``statement``.
    """

    def __init__(self, postgres: Postgres, *, pool_mode: str = "transaction") -> None:
        self.port = free_port()
        self._temporary = tempfile.TemporaryDirectory(prefix="pgbouncer-")
        folder = Path(self._temporary.name)
        program = fetch.tool("pgbouncer")
        files = {
            "pgbouncer.ini": _INI.format(
                server=postgres.port, port=self.port, mode=pool_mode, folder=folder
            ),
            "users.txt": f'"{SUPERUSER}" "{PASSWORD}"\n',
            "log": "",
        }
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        # Like PostgreSQL it refuses to run as root.
        user = server_user()
        if user is not None:
            for path in (folder, *(folder / name for name in files)):
                os.chown(path, user, user)
        self._process = Process(
            "pgbouncer",
            [program.path, folder / "pgbouncer.ini"],
            log=folder / "log",
            ready=self._answers,
            environment=program.environment,
            user=user,
        )

    def __enter__(self) -> Self:
        self._process.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.stop()
        self._temporary.cleanup()

    @property
    def dsn(self) -> str:
        """Connection string of the superuser through the pooler."""
        return make_conninfo(
            host="127.0.0.1",
            port=self.port,
            user=SUPERUSER,
            password=PASSWORD,
            dbname="postgres",
        )

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.dsn, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


_INI = """
[databases]
* = host=127.0.0.1 port={server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/users.txt
pool_mode = {mode}
"""
