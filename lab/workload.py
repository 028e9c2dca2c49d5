"""Calls the shop's statements at a steady pace, whatever each call takes."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import psycopg

from . import shop
from .postgres import Postgres

SETTINGS = {
    # One process a call, and the same plan each time.
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "track_io_timing": "on",
}


def create_shop(postgres: Postgres) -> None:
    """Make the shop's database, user and tables."""
    postgres.execute(f"CREATE DATABASE {shop.DATABASE}")
    postgres.execute(shop.SCHEMA, database=shop.DATABASE)
    postgres.execute(shop.SETTLE, database=shop.DATABASE)


class Workload:
    """Each statement *rate* times a second, evenly spread; a context manager.

    Open loop: a call that is late does not delay the later ones' due times.

    Args:
        dsn: of the shop's database.
        rate: calls a second of each statement.
        clients: connections that share the calls.
    """

    def __init__(
        self,
        dsn: str,
        *,
        rate: float = 4.0,
        clients: int = 6,
        statements: Sequence[shop.Statement] = shop.STATEMENTS,
    ) -> None:
        self.calls: Counter[str] = Counter()
        self.problems: list[str] = []
        self.rate = rate
        self._dsn = dsn
        self._every = 1 / (rate * len(statements))
        self._statements = statements
        self._clients = clients
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._run, args=(client,), daemon=True)
            for client in range(clients)
        ]

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Finish the calls under way; afterwards ``calls`` is exact."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, client: int) -> None:
        try:
            with psycopg.connect(self._dsn, autocommit=True) as connection:
                self._call_in_turn(connection, client)
        except psycopg.Error as error:
            self.problems.append(f"client {client}: {error}")

    def _call_in_turn(
        self, connection: psycopg.Connection[tuple[object, ...]], client: int
    ) -> None:
        """Every *clients*-th of all calls, each at its time."""
        number = client
        while not self._stop.wait(self._due(number) - time.monotonic()):
            turn, which = divmod(number, len(self._statements))
            statement = self._statements[which]
            connection.execute(statement.sql.encode(), statement.parameters(turn))
            with self._lock:
                self.calls[statement.name] += 1
            number += self._clients

    def _due(self, number: int) -> float:
        return self._started + number * self._every
