"""The loop: find deploys, judge those whose window has passed, publish, show.

Everything from outside is passed in, the clock too, so that tests can set it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import structlog

from ..errors import PgverdictError
from ..model import Deploy, Report, Settings
from ..sinks.gauges import Gauges
from ..sources.readings import Reading
from ..triggers.inbox import Inbox
from ..triggers.port import Trigger
from .complaints import Complaints
from .discovery import Discovery
from .evaluate import Around, examine, give_up
from .ledger import Ledger
from .overlap import overlapping_deploys
from .schedule import Schedule, Timetable

log = structlog.get_logger()

# A deploy that could not be judged is tried again at once in the next round, then after
# a quarter of the time since its window could be judged, at the latest after this long.
_RETRY_MOST = 900.0


@dataclass(frozen=True, slots=True)
class Outside:
    """What the loop needs of the world.

    Args:
        triggers: what announces deploys; all are read in each round.
        read: counters of the deploy's databases between two moments.
        around: what else is known about the judged servers.
        selector_for: which series belong to a service.
        publish: write the verdict where people see it, safe to call again; None where
            there is no such place, so that verdicts are on /metrics only.
    """

    triggers: Sequence[Trigger]
    read: Callable[[Deploy, float, float], Reading]
    around: Around
    selector_for: Callable[[str], str]
    publish: Callable[[Report], object] | None = None


class Service:
    """Keeps the ledger, the annotations and the gauges up to date, round by round.

    Args:
        inbox: what other threads hand in; emptied at the start of each round.
    """

    def __init__(
        self,
        outside: Outside,
        ledger: Ledger,
        gauges: Gauges,
        settings: Settings,
        schedule: Schedule,
        clock: Callable[[], float],
        inbox: Inbox,
    ) -> None:
        self._outside = outside
        self._ledger = ledger
        self._gauges = gauges
        self._settings = settings
        self._schedule = schedule
        self._clock = clock
        self._timetable = Timetable(settings, schedule)
        self._complaints = Complaints(gauges)
        self._discovery = Discovery(
            outside.triggers,
            inbox,
            ledger,
            self._complaints,
            self._timetable,
            schedule.lookback,
        )

    def round(self) -> None:
        """Do everything that is due once; no error of the outside escapes."""
        with self._gauges.timed("round"):
            for name, step in (
                ("discover", lambda: self._discovery.run(self._clock())),
                ("judge", self._judge),
                ("publish", self._publish),
            ):
                self._step(name, step)
            self._ledger.forget(self._timetable.forgotten_before(self._clock()))
            self.show()
        self._gauges.succeeded("round", self._clock())

    def show(self) -> None:
        """Put what the ledger holds on /metrics."""
        since = self._clock() - self._schedule.retention
        self._gauges.show(self._ledger.reports(since), pending=self._ledger.waiting())

    def stop(self) -> None:
        """Take up what was handed in; to be called before the ledger is closed."""
        self._discovery.stop(self._clock())

    def _step(self, name: str, step: Callable[[], bool]) -> None:
        """Run one step; it has succeeded when it raises nothing and returns True."""
        results: list[bool] = []
        with self._gauges.timed(name):
            self._complaints.attempt(name, name, lambda: results.append(step()))
        if results == [True]:
            self._gauges.succeeded(name, self._clock())

    def _judge(self) -> bool:
        clean = True
        for deploy, earlier in self._ledger.due(self._clock()):
            try:
                self._look(deploy, earlier)
            except PgverdictError as error:
                clean = False
                self._complaints.add("judge", deploy.id, error)
                self._postpone(deploy, earlier, error)
            else:
                self._complaints.settle(deploy.id)
        return clean

    def _look(self, deploy: Deploy, earlier: Report | None) -> None:
        """Judge by what has passed of the window, at the latest look that is due."""
        looks = self._timetable.looks
        look = self._timetable.latest_due(deploy, self._clock())
        report = examine(
            deploy,
            self._outside.read,
            self._settings,
            self._clock,
            around=self._outside.around,
            others=self._overlapping(deploy),
            look=look if len(looks) > 1 else None,
            earlier=earlier,
        )
        if report.share < 1.0:
            self._ledger.keep(report, self._timetable.of(deploy, looks[look + 1]))
        else:
            self._ledger.decide(report)
        log.info(
            "deploy judged",
            deploy=deploy.id,
            window=f"{report.share:.0%}",
            decision=report.decision.kind.value,
            tested=len(report.verdicts),
            detected=len(report.detected),
            lone_samples=report.quality.lone_samples,
        )
        if report.share >= 1.0:
            for note in filter(None, (report.quality.obstacle, *report.notes)):
                log.warning("data unclear", deploy=deploy.id, why=note)

    def _postpone(
        self, deploy: Deploy, earlier: Report | None, error: PgverdictError
    ) -> None:
        """Try again later, or conclude that the deploy cannot be judged."""
        now = self._clock()
        overdue = now - self._timetable.final(deploy)
        if overdue < self._schedule.give_up_after:
            pause = min(max(overdue / 4, 0.0), _RETRY_MOST)
            self._ledger.postpone(deploy, now + pause)
            return
        log.error("deploy given up", deploy=deploy.id, error=str(error))
        self._ledger.decide(give_up(deploy, earlier, self._settings, now, str(error)))

    def _publish(self) -> bool:
        """Publish what is final; without a place to do so it stays unpublished."""
        publish = self._outside.publish
        if publish is None:
            return True
        published = [
            self._complaints.attempt(
                "publish",
                report.subject.id,
                partial(self._publish_report, report, publish),
            )
            for report in self._ledger.unpublished()
        ]
        return all(published)

    def _publish_report(
        self, report: Report, publish: Callable[[Report], object]
    ) -> None:
        publish(report)
        self._ledger.published(report)
        log.info("verdict annotated", deploy=report.subject.id)

    def _overlapping(self, deploy: Deploy) -> list[Deploy]:
        """Other deploys within a window of this one that touch its databases."""
        window = self._settings.window
        near = self._ledger.between(deploy.at - window, deploy.at + window)
        return overlapping_deploys(deploy, near, self._outside.selector_for)
