"""A real PostgreSQL on a loopback port, with pg_stat_statements preloaded."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psycopg
from psycopg.conninfo import make_conninfo

from . import fetch
from .cache import once
from .process import LaunchError, Process, free_port, wait_until

SUPERUSER = "postgres"
PASSWORD = "lab"  # noqa: S105 - of throw-away servers on loopback
MONITOR = "pgverdict"
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
# Durability is worth nothing here; quiet start and stop are.
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_preload_libraries": "pg_stat_statements",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "32MB",
    "max_wal_size": "256MB",
}


def server_user() -> int | None:
    """Whom to run the server as: PostgreSQL refuses root. None means: as ourselves."""
    return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None


class Postgres:
    """One server with a fresh data folder; a context manager.

    Args:
        version: major version, a key of `fetch.POSTGRES`.
        settings: server settings, on top of and instead of `SETTINGS`.
        port: loopback port; a free one by default.
        extension: create pg_stat_statements in the database ``postgres``.
    """

    def __init__(
        self,
        version: str = "17",
        *,
        settings: Mapping[str, str] | None = None,
        port: int | None = None,
        extension: bool = True,
    ) -> None:
        self.version = version
        self.port = port or free_port()
        self._extension = extension
        self._settings = {**SETTINGS, "port": str(self.port), **(settings or {})}
        self._folder: Path | None = None
        self._process: Process | None = None

    def __enter__(self) -> Self:
        binaries = fetch.postgres(self.version) / "bin"
        template = _template(self.version)
        self._folder = Path(tempfile.mkdtemp(prefix=f"postgres-{self.version}-"))
        try:
            data = self._folder / "data"
            shutil.copytree(template / "data", data)
            _give_away(self._folder)
            options = [f"--{name}={value}" for name, value in self._settings.items()]
            self._process = Process(
                f"PostgreSQL {self.version}",
                [binaries / "postgres", "-D", data, *options],
                log=self._folder / "log",
                ready=self._answers,
                environment=_environment(self.version),
                user=server_user(),
                # "Fast" shutdown: does not wait for clients to leave.
                stop_signal=signal.SIGINT,
            )
            self.start()
            if self._extension:
                self.execute("CREATE EXTENSION pg_stat_statements")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self.thaw()
            self._process.stop()
        if self._folder is not None:
            shutil.rmtree(self._folder)

    @property
    def dsn(self) -> str:
        """Connection string of the superuser, database ``postgres``."""
        return self.dsn_for()

    def dsn_for(
        self,
        user: str = SUPERUSER,
        password: str = PASSWORD,
        database: str = "postgres",
    ) -> str:
        """Connection string of someone else, or of another database."""
        return make_conninfo(
            host="127.0.0.1",
            port=self.port,
            user=user,
            password=password,
            dbname=database,
        )

    def create_monitor(self) -> None:
        """Create the role `MONITOR`, as which an exporter may read all statistics."""
        self.execute(
            f"CREATE ROLE {MONITOR} LOGIN PASSWORD '{PASSWORD}' IN ROLE pg_monitor"
        )

    def execute(self, sql: str, *, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run *sql* as the superuser in a connection of its own; its rows, if any."""
        dsn = self.dsn_for(database=database)
        with psycopg.connect(dsn, autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    def start(self) -> None:
        """Start the server on its port and data folder."""
        self._server.start()

    def stop(self) -> None:
        """Stop it, ending all connections; the data stay until the block ends."""
        self._server.stop()

    def restart(self) -> None:
        """Stop and start."""
        self.stop()
        self.start()

    def kill(self) -> None:
        """Crash it: no shutdown, no statistics saved."""
        backends = _children(self._server.pid)
        self._server.kill()
        wait_until(
            lambda: not any(Path(f"/proc/{pid}").exists() for pid in backends),
            what="backends gone",
        )

    def freeze(self) -> None:
        """Halt all its processes: connections hang, nothing is refused."""
        postmaster = self._server.pid
        os.kill(postmaster, signal.SIGSTOP)
        for pid in _children(postmaster):
            os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them run again."""
        if self._process is None or not self._process.alive():
            return
        postmaster = self._process.pid
        for pid in [*_children(postmaster), postmaster]:
            os.kill(pid, signal.SIGCONT)

    @property
    def folder(self) -> Path:
        """Its temporary folder, gone when the block ends."""
        if self._folder is None:
            raise RuntimeError("use Postgres in a with statement")
        return self._folder

    @property
    def log(self) -> str:
        """What the server has logged so far."""
        return self._server.log.read_text(encoding="utf-8", errors="replace")

    @property
    def _server(self) -> Process:
        if self._process is None:
            raise RuntimeError("use Postgres in a with statement")
        return self._process

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.dsn, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


def _template(version: str) -> Path:
    """An initialised data folder to copy; made once per version."""
    home = fetch.postgres(version)

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="initdb-") as scratch:
            work = Path(scratch)
            (work / "password").write_text(PASSWORD, encoding="utf-8")
            _give_away(work)
            user = server_user()
            made = subprocess.run(
                [
                    str(home / "bin" / "initdb"),
                    f"--pgdata={work / 'data'}",
                    f"--username={SUPERUSER}",
                    f"--pwfile={work / 'password'}",
                    "--auth=scram-sha-256",
                    "--encoding=UTF8",
                    "--wal-segsize=4",
                    "--no-sync",
                ],
                env={**os.environ, **_environment(version)},
                user=user,
                group=user,
                extra_groups=None if user is None else [],
                cwd=work,
                capture_output=True,
                text=True,
                check=False,
            )
            if made.returncode != 0:
                raise LaunchError(f"initdb of PostgreSQL {version}: {made.stderr}")
            shutil.copytree(work / "data", folder / "data")

    return once(f"{home.name}-data", make)


def _environment(version: str) -> dict[str, str]:
    return {**ENVIRONMENT, **fetch.postgres_libraries(version)}


def _give_away(folder: Path) -> None:
    """Make *folder* and all in it the server user's own."""
    user = server_user()
    if user is None:
        return
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, user, user)


def _children(pid: int) -> list[int]:
    """Direct children; a backend leads a group of its own, so no group signal helps."""
    tasks = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in tasks.read_text(encoding="ascii").split()]
