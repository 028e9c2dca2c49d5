"""The loop: find deploys, judge those whose window has passed, tell, show.

Everything from outside is passed in, the clock too, so that the tests can turn it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import structlog

from ..errors import PgverdictError
from ..model import Deploy, Report, Settings
from ..sinks.gauges import Gauges
from ..sources.readings import Reading
from ..triggers.annotation_patterns import Mark
from ..units import show_time
from .evaluate import Around, examine, give_up, looks
from .ledger import Ledger

log = structlog.get_logger()

# A deploy that could not be judged is tried again at once in the next round, then after
# a quarter of the time since its window could be judged, at the latest after this long.
_RETRY_MOST = 900.0


@dataclass(frozen=True, slots=True)
class Schedule:
    """When what is done, seconds; see ServiceConfig for what each means."""

    settle: float
    lookback: float
    give_up_after: float
    retention: float


@dataclass(frozen=True, slots=True)
class Outside:
    """What the loop needs of the world.

    Args:
        find: marks of the deploys between two moments.
        read: counters of the deploy's databases between two moments.
        around: what else is known about the judged servers.
        rivals: which of several deploys may have touched the same databases.
        tell: write the verdict where people see it; safe to call again.
    """

    find: Callable[[float, float], Iterable[Mark]]
    read: Callable[[Deploy, float, float], Reading]
    around: Around
    rivals: Callable[[Deploy, Iterable[Deploy]], Sequence[Deploy]]
    tell: Callable[[Report], object]


class Service:
    """Keeps the ledger, the annotations and the gauges up to date, round by round."""

    def __init__(
        self,
        outside: Outside,
        ledger: Ledger,
        gauges: Gauges,
        settings: Settings,
        schedule: Schedule,
        clock: Callable[[], float],
    ) -> None:
        self._outside = outside
        self._ledger = ledger
        self._gauges = gauges
        self._settings = settings
        self._schedule = schedule
        self._clock = clock
        self._looks = looks(settings)
        self._told: dict[str, str] = {}

    def round(self) -> None:
        """Do everything that is due once; no error of the outside escapes."""
        with self._gauges.timed("round"):
            for name, step in (
                ("discover", self._discover),
                ("judge", self._judge),
                ("publish", self._publish),
            ):
                self._attempt(name, step)
            self._forget()
            self.show()
        self._gauges.succeeded("round", self._clock())

    def show(self) -> None:
        """Put what the ledger holds on /metrics."""
        since = self._clock() - self._schedule.retention
        self._gauges.show(self._ledger.reports(since), pending=self._ledger.waiting())

    def _attempt(self, name: str, step: Callable[[], bool]) -> None:
        with self._gauges.timed(name):
            try:
                clean = step()
            except PgverdictError as error:
                self._complain(name, name, error)
                return
            except Exception:
                # A defect of ours must not end the watch over the other deploys.
                log.exception("step failed", step=name)
                self._gauges.failed(name)
                return
        if clean:
            self._told.pop(name, None)
            self._gauges.succeeded(name, self._clock())

    def _discover(self) -> bool:
        now = self._clock()
        start = now - self._schedule.lookback
        for mark in self._outside.find(start, now):
            deploy = mark.deploy
            first_look = self._time_of(deploy, self._looks[0])
            if deploy.at >= start and self._ledger.note(deploy, first_look):
                log.info(
                    "deploy found",
                    deploy=deploy.id,
                    service=deploy.service,
                    at=show_time(deploy.at),
                    final=show_time(self._time_of(deploy, 1.0)),
                )
                for note in mark.notes:
                    log.warning("deploy unclear", deploy=deploy.id, why=note)
        return True

    def _judge(self) -> bool:
        clean = True
        for deploy, earlier in self._ledger.due(self._clock()):
            try:
                self._look(deploy, earlier)
            except PgverdictError as error:
                clean = False
                self._complain("judge", deploy.id, error)
                self._postpone(deploy, earlier, error)
            else:
                self._told.pop(deploy.id, None)
        return clean

    def _look(self, deploy: Deploy, earlier: Report | None) -> None:
        """Judge by what has passed of the window, at the latest look that is due."""
        now = self._clock()
        look = max(
            index
            for index, share in enumerate(self._looks)
            if index == 0 or self._time_of(deploy, share) <= now
        )
        report = examine(
            deploy,
            self._outside.read,
            self._settings,
            self._clock,
            around=self._outside.around,
            others=self._outside.rivals(deploy, self._neighbours(deploy)),
            look=look if len(self._looks) > 1 else None,
            earlier=earlier,
        )
        if report.share < 1.0:
            next_look = self._looks[look + 1]
            self._ledger.keep(report, self._time_of(deploy, next_look))
        else:
            self._ledger.decide(report)
        log.info(
            "deploy judged",
            deploy=deploy.id,
            window=f"{report.share:.0%}",
            tested=len(report.verdicts),
            detected=len(report.detected),
            lone_samples=report.quality.lone_samples,
        )

    def _postpone(
        self, deploy: Deploy, earlier: Report | None, error: PgverdictError
    ) -> None:
        """Try again later, or say for good that it could not be told."""
        now = self._clock()
        overdue = now - self._time_of(deploy, 1.0)
        if overdue < self._schedule.give_up_after:
            pause = min(max(overdue / 4, 0.0), _RETRY_MOST)
            self._ledger.postpone(deploy, now + pause)
            return
        log.error("deploy given up", deploy=deploy.id, error=str(error))
        self._ledger.decide(give_up(deploy, earlier, self._settings, now, str(error)))

    def _publish(self) -> bool:
        clean = True
        for report in self._ledger.unpublished():
            try:
                self._outside.tell(report)
            except PgverdictError as error:
                clean = False
                self._complain("publish", report.deploy.id, error)
                continue
            self._ledger.published(report)
            self._told.pop(report.deploy.id, None)
            log.info("verdict annotated", deploy=report.deploy.id)
        return clean

    def _forget(self) -> None:
        """Drop what nobody can ask for again: older than lookback and retention."""
        schedule = self._schedule
        oldest = max(schedule.lookback, schedule.retention)
        oldest += schedule.give_up_after + self._settings.window + schedule.settle
        self._ledger.forget(self._clock() - oldest)

    def _complain(self, step: str, about: str, error: PgverdictError) -> None:
        """Count every time, log only news: a dead Grafana is one line."""
        self._gauges.failed(step)
        if self._told.get(about) != str(error):
            self._told[about] = str(error)
            log.error("step failed", step=step, about=about, error=str(error))

    def _neighbours(self, deploy: Deploy) -> list[Deploy]:
        """Deploys that were found within a window of this one, itself among them."""
        window = self._settings.window
        return self._ledger.between(deploy.at - window, deploy.at + window)

    def _time_of(self, deploy: Deploy, share: float) -> float:
        """When that share of the window after *deploy* can be looked at."""
        return deploy.at + share * self._settings.window + self._schedule.settle
