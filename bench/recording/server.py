"""The recorded server: a PostgreSQL whose settings are those of production."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psycopg

from lab import fetch, shop
from lab.postgres import PASSWORD, SUPERUSER, Postgres
from lab.workload import create_shop

from .scripts import SCALE, SCHEMA

VERSION = "17"
# Unlike in tests everything is written as durably as elsewhere, and the disk is used.
SETTINGS = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "shared_buffers": "48MB",
    "max_wal_size": "256MB",
    "track_io_timing": "on",
    "max_wal_senders": "4",
    "wal_level": "replica",
    "jit": "off",
}
_CLIENTS = 8
# Of what takes time by itself, at the speed of life.
_CHECKPOINTS, _NAPTIME, _LOCK = 300.0, 20.0, 20.0  # seconds
_BACKUP_RATE = 400.0  # kilobytes a second


def postgres(speed: float) -> Postgres:
    """A server whose checkpoints and vacuum come *speed* times as often."""
    paced = {
        "checkpoint_timeout": f"{max(30.0, _CHECKPOINTS / speed):.0f}s",
        "autovacuum_naptime": f"{max(1.0, _NAPTIME / speed):.0f}s",
    }
    return Postgres(VERSION, settings={**SETTINGS, **paced})


def prepare(server: Postgres) -> None:
    """Make the shop's tables, pgbench's and the log."""
    create_shop(server)
    tool(
        server, "pgbench", "--initialize", "--quiet", f"--scale={SCALE}", shop.DATABASE
    )
    server.execute(SCHEMA, database=shop.DATABASE)
    server.create_monitor()


def command(server: Postgres, name: str, *arguments: str) -> list[str]:
    """One of PostgreSQL's own programs, as the superuser; gentle to other work."""
    path = str(fetch.postgres(VERSION) / "bin" / name)
    address = ["--host=127.0.0.1", f"--port={server.port}", f"--username={SUPERUSER}"]
    return ["nice", "--adjustment=5", path, *address, *arguments]


def environment() -> Mapping[str, str]:
    libraries = fetch.postgres_libraries(VERSION)
    return {**os.environ, **libraries, "PGPASSWORD": PASSWORD, "LC_ALL": "C.UTF-8"}


def tool(server: Postgres, name: str, *arguments: str) -> None:
    """Run it to its end; what it prints is thrown away.

    Raises:
        CalledProcessError: it failed.
    """
    subprocess.run(
        command(server, name, *arguments),
        env=dict(environment()),
        check=True,
        capture_output=True,
    )


def call(server: Postgres, rate: float, seconds: float, scripts: Sequence[str]) -> None:
    """The scripts, *rate* a second for so many *seconds*."""
    tool(
        server,
        "pgbench",
        "--no-vacuum",
        f"--client={_CLIENTS}",
        f"--rate={rate:.1f}",
        f"--time={max(1, round(seconds))}",
        *scripts,
        shop.DATABASE,
    )


Job = Callable[[Postgres, float], None]


def _sql(statement: str) -> Job:
    def job(server: Postgres, speed: float) -> None:
        # The end of the recording cuts off a job that runs; that is expected.
        with suppress(psycopg.OperationalError):
            server.execute(
                statement.replace("LOCK_SECONDS", f"{_LOCK / speed:.1f}"),
                database=shop.DATABASE,
            )

    return job


def _backup(server: Postgres, speed: float) -> None:
    """A base backup that takes ten minutes, most of them for its checkpoint."""
    with tempfile.TemporaryDirectory(prefix="backup-") as folder:
        target = Path(folder) / "data"
        options = [f"--pgdata={target}", f"--max-rate={_BACKUP_RATE * speed:.0f}k"]
        tool(server, "pg_basebackup", *options, "--wal-method=none", "--format=tar")


def _dump(server: Postgres, _: float) -> None:
    tool(server, "pg_dump", "--file=/dev/null", shop.DATABASE)


JOBS: Mapping[str, Job] = {
    "report": _sql(
        "SELECT customer, sum(total) FROM orders JOIN customers"
        ' ON customer = customers.id JOIN items ON items."order" = orders.id'
        " GROUP BY customer ORDER BY 2 DESC LIMIT 20"
    ),
    "vacuum": _sql("VACUUM (ANALYZE) pgbench_accounts"),
    # Meanwhile nobody writes to the table.
    "lock": _sql(
        "BEGIN; LOCK TABLE log IN EXCLUSIVE MODE; SELECT pg_sleep(LOCK_SECONDS); COMMIT"
    ),
    "backup": _backup,
    "dump": _dump,
    "bulk load": _sql(
        "INSERT INTO log (about, at, text) SELECT id % 5000, now(), repeat('load ', 9)"
        " FROM generate_series(1, 60000) AS id"
    ),
}
