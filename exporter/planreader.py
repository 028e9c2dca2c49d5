"""Reads generic plans of the costliest statements on a slow schedule."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import structlog

from .background import Background
from .database import Database, ReadError
from .limit import Limit
from .plans import OLDEST_SERVER, Plan, Plans, Skipped, explainable
from .reading import read_plan, read_whole_texts
from .snapshot import Server, Snapshot, StatementKey, Statements
from .turns import Turns

log = structlog.get_logger()

# Seconds from the first scrape on: the first read of texts comes before.
_FIRST = 5.0
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """How plans are read.

    Args:
        number: how many statements, the costliest.
        interval: seconds between two rounds.
        timeout: seconds for one plan, and for the texts; a scrape may wait for it.
    """

    number: int = 20
    interval: float = 300.0
    timeout: float = 1.0


class PlanReader:
    """Keeps :attr:`newest` up to date for one server."""

    def __init__(
        self, name: str, database: Database, turns: Turns, settings: PlanSettings
    ) -> None:
        self.newest = Plans({}, {})
        self._name = name
        self._database = database
        self._turns = turns
        self._settings = settings
        self._limit = Limit(settings.number)
        self._seen: Snapshot | None = None
        self._told: set[Skipped] = set()
        self._background = Background(
            f"plans of {name}",
            self.read,
            interval=settings.interval,
            first=min(_FIRST, settings.interval),
        )

    def start(self) -> None:
        """Begin to read now and then."""
        self._background.start()

    def close(self) -> None:
        """Read no more."""
        self._background.close()

    def saw(self, snapshot: Snapshot) -> None:
        """Tell what the newest scrape read."""
        self._seen = snapshot
        if snapshot.statements is not None:
            self._background.wake()

    def read(self) -> None:
        """One round over the costliest statements."""
        seen = self._seen
        if seen is None or seen.statements is None or seen.server is None:
            return
        chosen = self._limit.of(seen.statements).statements
        found, skipped = self._round(chosen, seen.server)
        self.newest = Plans(found, Counter(skipped.values()), time.time())
        for reason in sorted(set(skipped.values()) - self._told):
            log.info(
                "some statements have no plan",
                target=self._name,
                reason=reason,
            )
            self._told.add(reason)

    def _round(
        self, chosen: Statements, server: Server
    ) -> tuple[dict[StatementKey, str], dict[StatementKey, Skipped]]:
        found: dict[StatementKey, str] = {}
        skipped: dict[StatementKey, Skipped] = {}
        if server.major < OLDEST_SERVER:
            return found, dict.fromkeys(chosen.keys, Skipped.SERVER_TOO_OLD)
        databases = chosen.names.databases
        here = {key for key in chosen.keys if databases[key[1]] == server.database}
        texts = self._in_turn(
            lambda until: read_whole_texts(self._database, here, until)
        )
        for key in chosen.keys:
            if key not in here:
                skipped[key] = Skipped.OTHER_DATABASE
                continue
            plan = self._plan(texts, key)
            if isinstance(plan, Plan):
                found[key] = plan.labels
                continue
            skipped[key] = plan
            # A server that was busy says nothing against the plan it had.
            if plan is Skipped.TIMEOUT and key in self.newest.labels:
                found[key] = self.newest.labels[key]
        return found, skipped

    def _plan(
        self, texts: Mapping[StatementKey, str] | None, key: StatementKey
    ) -> Plan | Skipped:
        if texts is None:
            return Skipped.TIMEOUT
        if key not in texts:
            return Skipped.NO_TEXT
        if not explainable(texts[key]):
            return Skipped.NOT_EXPLAINABLE
        plan = self._in_turn(lambda until: read_plan(self._database, texts[key], until))
        return Skipped.TIMEOUT if plan is None else plan

    def _in_turn(self, work: Callable[[float], Result]) -> Result | None:
        """The result; None when the server could not be read in time."""
        deadline = time.monotonic() + self._settings.timeout
        try:
            return self._turns.take(work, deadline)
        except ReadError:
            return None
