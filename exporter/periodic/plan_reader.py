"""Reads generic plans of the costliest statements on a slow schedule."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import structlog

from ..metrics.sticky_limit import StickyLimit
from ..postgres.connecting.connection import ReadError, ServerConnection
from ..postgres.generic import for_generic_plan
from ..postgres.plans import OLDEST_SERVER, explainable
from ..postgres.text_reading import read_plan, read_whole_texts
from ..values.plan import Plan, Plans, Skipped
from ..values.problems import Reason
from ..values.snapshot import Server, Snapshot, StatementKey, Statements
from .single_flight import SingleFlight
from .task import PeriodicTask

log = structlog.get_logger()

# Seconds after the first scrape, so that the first read of texts comes before.
_FIRST = 5.0
Result = TypeVar("Result")
# What a server that cannot be read means for a statement's plan.
_UNREAD = {
    Reason.TIMEOUT: Skipped.TIMEOUT,
    Reason.UNREACHABLE: Skipped.TIMEOUT,
    Reason.TOO_MANY_CONNECTIONS: Skipped.TIMEOUT,
    Reason.PERMISSION_DENIED: Skipped.NO_PRIVILEGE,
    Reason.ENCODING: Skipped.NO_TEXT,
}
_READ_AGAIN = frozenset({Skipped.TIMEOUT, Skipped.NO_TEXT})


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """How plans are read.

    Args:
        number: how many statements, the costliest.
        interval: seconds between two rounds.
        timeout: seconds for one plan, and for the texts; a scrape may wait for it.
    """

    number: int
    interval: float
    timeout: float


class PlanReader:
    """Keeps :attr:`latest` up to date for one server.

    Attributes:
        latest: the result of the latest round.
    """

    def __init__(
        self,
        name: str,
        connection: ServerConnection,
        flights: SingleFlight,
        settings: PlanSettings,
    ) -> None:
        self.latest = Plans({}, {})
        self._name = name
        self._connection = connection
        self._flights = flights
        self._settings = settings
        self._limit = StickyLimit(settings.number)
        self._seen: Snapshot | None = None
        self._logged: set[Skipped] = set()
        self._task = PeriodicTask(
            f"plans of {name}",
            self.read,
            interval=settings.interval,
            first=min(_FIRST, settings.interval),
        )

    def start(self) -> None:
        """Start to read from time to time."""
        self._task.start()

    def close(self) -> None:
        """Do not read any more."""
        self._task.close()

    def saw(self, snapshot: Snapshot) -> None:
        """Take note of the latest scrape."""
        self._seen = snapshot
        if snapshot.statements is not None:
            self._task.wake()

    def read(self) -> None:
        """One round over the costliest statements."""
        seen = self._seen
        if seen is None or seen.statements is None or seen.server is None:
            return
        chosen = self._limit.apply(seen.statements).statements
        known, skipped = self._round(chosen, seen.server)
        self.latest = Plans(known, Counter(skipped.values()), time.time())
        for reason in sorted(set(skipped.values()) - self._logged):
            log.info(
                "some statements have no plan",
                target=self._name,
                reason=reason,
            )
            self._logged.add(reason)

    def _round(
        self, chosen: Statements, server: Server
    ) -> tuple[dict[StatementKey, Plan], dict[StatementKey, Skipped]]:
        known: dict[StatementKey, Plan] = {}
        skipped: dict[StatementKey, Skipped] = {}
        if server.major < OLDEST_SERVER:
            return known, dict.fromkeys(chosen.keys, Skipped.SERVER_TOO_OLD)
        databases = chosen.names.databases
        here = {key for key in chosen.keys if databases[key[1]] == server.database}
        texts = self._do(lambda until: read_whole_texts(self._connection, here, until))
        for key in chosen.keys:
            if key not in here:
                skipped[key] = Skipped.OTHER_DATABASE
                continue
            plan = self._plan(texts, key)
            if isinstance(plan, Plan):
                known[key] = plan
                continue
            skipped[key] = plan
            # A failed read does not mean that the plan has changed.
            if plan in _READ_AGAIN and key in self.latest.known:
                known[key] = self.latest.known[key]
        return known, skipped

    def _plan(
        self, texts: Mapping[StatementKey, str] | Skipped, key: StatementKey
    ) -> Plan | Skipped:
        if isinstance(texts, Skipped):
            return texts
        if key not in texts:
            return Skipped.NO_TEXT
        query = for_generic_plan(texts[key])
        if not explainable(query):
            return Skipped.NOT_EXPLAINABLE
        return self._do(lambda until: read_plan(self._connection, query, until))

    def _do(self, work: Callable[[float], Result]) -> Result | Skipped:
        """The result, or why the server could not be read."""
        deadline = time.monotonic() + self._settings.timeout
        try:
            result = self._flights.do(work, deadline)
        except ReadError as error:
            return _UNREAD.get(error.problem.reason, Skipped.FAILED)
        return Skipped.TIMEOUT if result is None else result
