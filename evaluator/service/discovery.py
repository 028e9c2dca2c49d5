"""Marks of every trigger and of the inbox → the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import structlog

from ..triggers.inbox import Inbox
from ..triggers.port import Mark, Trigger
from ..units import show_time
from .complaints import Complaints
from .ledger import Ledger
from .schedule import Timetable

log = structlog.get_logger()


class Discovery:
    """Takes up deploys, however they were announced; the ledger's only way in.

    Args:
        lookback: a deploy older than this is not taken up any more, seconds.
    """

    def __init__(
        self,
        triggers: Sequence[Trigger],
        inbox: Inbox,
        ledger: Ledger,
        complaints: Complaints,
        timetable: Timetable,
        lookback: float,
    ) -> None:
        self._triggers = triggers
        self._inbox = inbox
        self._ledger = ledger
        self._complaints = complaints
        self._timetable = timetable
        self._lookback = lookback

    def run(self, now: float) -> bool:
        """Take up new deploys; False when a trigger could not be read.

        What was handed in comes first: a Grafana that is down must not delay it.
        """
        start = now - self._lookback
        self._inbox.drain(partial(self._take_up_unless_old, start))
        results = [
            self._complaints.attempt(
                "discover", trigger.name, partial(self._read, trigger, start, now)
            )
            for trigger in self._triggers
        ]
        return all(results)

    def stop(self, now: float) -> None:
        """Refuse further marks and write those that were handed in to the ledger."""
        self._inbox.close()
        try:
            self._inbox.drain(partial(self._take_up_unless_old, now - self._lookback))
        except Exception:
            lost = ", ".join(mark.deploy.id for mark in self._inbox.waiting)
            log.exception("deploys lost: hand them in again", deploys=lost)

    def _read(self, trigger: Trigger, start: float, now: float) -> None:
        for mark in trigger.marks(start, now):
            # A trigger may announce a region that began earlier.
            if mark.deploy.at >= start:
                self._take_up(mark)

    def _take_up_unless_old(self, start: float, mark: Mark) -> None:
        deploy = mark.deploy
        if deploy.at >= start:
            self._take_up(mark)
        else:
            log.warning("deploy too old", deploy=deploy.id, at=show_time(deploy.at))

    def _take_up(self, mark: Mark) -> None:
        deploy = mark.deploy
        if not self._ledger.note(deploy, self._timetable.first(deploy)):
            return
        log.info(
            "deploy found",
            deploy=deploy.id,
            service=deploy.service,
            at=show_time(deploy.at),
            final=show_time(self._timetable.final(deploy)),
        )
        for note in mark.notes:
            log.warning("deploy unclear", deploy=deploy.id, why=note)
