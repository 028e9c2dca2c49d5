"""Calls the shop's statements in rounds, each of so many calls whatever it takes."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self

import psycopg

from . import shop


class Rounds:
    """Several clients that share the calls of each round; a context manager.

    A call whose connection was cut counts as ``lost``; the client's next call makes a
    new one.

    Args:
        dsn: of the shop's database.
        statements: may be changed between two rounds.
        calls: of each statement in a round.
        clients: connections.
    """

    def __init__(
        self,
        dsn: str,
        statements: Sequence[shop.Statement],
        *,
        calls: int = 2,
        clients: int = 6,
    ) -> None:
        self.statements = tuple(statements)
        self.lost = 0
        self._calls = calls
        self._clients = [_Client(dsn) for _ in range(clients)]
        self._pool = ThreadPoolExecutor(clients)
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.shutdown()
        for client in self._clients:
            client.close()

    def run(self) -> None:
        """One round; returns when its last call has ended."""
        first = self._number * self._calls
        calls = [
            (statement, first + call)
            for call in range(self._calls)
            for statement in self.statements
        ]
        clients = len(self._clients)
        # Each client calls each statement in some round.
        shares = [
            calls[(place + self._number) % clients :: clients]
            for place in range(clients)
        ]
        self.lost += sum(self._pool.map(_Client.call, self._clients, shares))
        self._number += 1


class _Client:
    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._connection: psycopg.Connection[tuple[object, ...]] | None = None

    def call(self, share: Sequence[tuple[shop.Statement, int]]) -> int:
        """Make these calls; how many of them were lost with the connection."""
        return sum(not self._made(*each) for each in share)

    def _made(self, statement: shop.Statement, number: int) -> bool:
        try:
            if self._connection is None:
                self._connection = psycopg.connect(self._dsn, autocommit=True)
            self._connection.execute(
                statement.sql.encode(), statement.parameters(number)
            )
        except psycopg.OperationalError:
            self.close()
            return False
        return True

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
