"""Our exporter and the one that Debian ships, made to show the same series."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPResponse, RemoteDisconnected
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from exporter.postgres.queries import COLUMNS, Column, offered_columns
from lab import fetch
from lab.fetch import Tool
from lab.programs import Exporter
from lab.server import Server

# What the newest extension has: of a renamed column the table reads the newest name.
_NEWEST = {"toplevel", *(name for column in COLUMNS for name in column.needs)}
COUNTERS = (
    "calls",
    "seconds",
    "rows",
    "shared_blocks_hit",
    "shared_blocks_read",
    "block_read_seconds",
    "block_write_seconds",
    "shared_blocks_dirtied",
    "shared_blocks_written",
    "plans",
    "plan_seconds",
    "wal_bytes",
)
SINCE = "since"


def ours(dsn: str, counters: Sequence[str], *, texts: bool = False) -> Exporter:
    """``python -m exporter`` as a user starts it; it shows texts only if asked to."""
    flags = [
        f"--statements.counters={','.join(counters)}",
        f"--texts.enabled={'true' if texts else 'false'}",
        "--texts.interval=2s",  # else the rest of large texts would come a minute later
    ]
    return Exporter(dsn, flags=flags)


class Theirs(Server):
    """prometheus-postgres-exporter with one custom query and nothing else."""

    name = "postgres_exporter"
    ready_path = "/"

    def __init__(self, dsn: str, counters: Sequence[str]) -> None:
        program = fetch.debian_tool("postgres_exporter")
        # Its driver asks for TLS unless it is configured not to; ours takes what the
        # server offers.
        environment = {**program.environment, "DATA_SOURCE_NAME": dsn}
        environment["PGSSLMODE"] = "disable"
        super().__init__(Tool(program.path, environment, program.folder))
        self._queries = _custom_query(counters)

    def arguments(self) -> list[str]:
        return [
            f"--web.listen-address=127.0.0.1:{self.port}",
            f"--extend.query-path={self.write('queries.yml', self._queries)}",
            "--disable-default-metrics",
            "--disable-settings-metrics",
            "--no-collector.database",
            "--no-collector.bgwriter",
        ]


class Client:
    """Scrapes one exporter over a connection that stays open, as Prometheus does."""

    def __init__(self, server: Server, path: str = "/metrics") -> None:
        self._http = HTTPConnection(urlsplit(server.url).netloc, timeout=60)
        self._path = path
        self.server = server

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def scrape(self, *, gzip: bool) -> tuple[float, bytes]:
        """Seconds until the whole answer was here, and its body as it was sent.

        Raises:
            RuntimeError: the exporter did not answer with a page.
        """
        headers = {
            "Accept": "text/plain;version=0.0.4",
            "Accept-Encoding": "gzip" if gzip else "identity",
            "X-Prometheus-Scrape-Timeout-Seconds": "60",
        }
        try:
            took, answer, body = self._get(headers)
        except RemoteDisconnected:  # it had been idle for too long
            took, answer, body = self._get(headers)
        packed = answer.headers.get("Content-Encoding") == "gzip"
        if answer.status != 200 or packed != gzip:
            raise RuntimeError(f"{self.server.name} answered {answer.status}, no page")
        return took, body

    def _get(self, headers: Mapping[str, str]) -> tuple[float, HTTPResponse, bytes]:
        started = time.perf_counter()
        self._http.request("GET", self._path, headers=dict(headers))
        answer = self._http.getresponse()
        body = answer.read()
        return time.perf_counter() - started, answer, body

    def peak_memory(self) -> float:
        """Most memory that the exporter ever held, MB."""
        status = Path(f"/proc/{self.server.process.pid}/status")
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError(f"no peak memory in {status}")


def statement_samples(page: bytes) -> dict[tuple[str, frozenset[str]], float]:
    """The series about statements; labels as ``name="value"``, without commas in it.

    A label ``server`` that postgres_exporter always adds is left out.
    """
    found = {}
    for line in page.decode().splitlines():
        if line.startswith("pg_stat_statements_") and "queryid=" in line:
            series, value = line.rsplit(" ", 1)
            name, labels = series.rstrip("}").split("{", 1)
            pairs = (
                pair for pair in labels.split(",") if not pair.startswith("server=")
            )
            found[name, frozenset(pairs)] = float(value)
    return found


def _custom_query(counters: Sequence[str]) -> Mapping[str, Any]:
    """The columns that ours reads by the same expressions, named as ours names them."""
    columns = offered_columns(_NEWEST, (*counters, SINCE)).values()
    values = [f"({c.sql})::{c.kind} AS {_metric(c)}" for c in columns]
    labels = {
        "user": 'r.rolname AS "user"',
        "datname": "d.datname",
        "queryid": "queryid::text AS queryid",
        "toplevel": "toplevel::text AS toplevel",
    }
    sql = (
        f"SELECT {', '.join([*labels.values(), *values])} "  # noqa: S608
        "FROM pg_stat_statements(false) s "
        "JOIN pg_roles r ON r.oid = s.userid JOIN pg_database d ON d.oid = s.dbid"
    )
    metrics = [{name: {"usage": "LABEL", "description": name}} for name in labels]
    metrics += [
        {_metric(c): {"usage": _usage(c), "description": f"Source: {c.sql}."}}
        for c in columns
    ]
    return {"pg_stat_statements": {"query": sql, "metrics": metrics}}


def _metric(column: Column) -> str:
    return "stats_since_seconds" if column.field == SINCE else f"{column.field}_total"


def _usage(column: Column) -> str:
    return "GAUGE" if column.field == SINCE else "COUNTER"
