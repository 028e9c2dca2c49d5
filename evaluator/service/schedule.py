"""When a deploy is looked at, and for how long it is remembered."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import Deploy, Settings
from .evaluate import looks


@dataclass(frozen=True, slots=True)
class Schedule:
    """When what is done, seconds; see ServiceConfig for what each means."""

    settle: float
    lookback: float
    give_up_after: float
    retention: float


class Timetable:
    """The looks at a deploy as moments in Unix seconds."""

    def __init__(self, settings: Settings, schedule: Schedule) -> None:
        self.looks = looks(settings)
        self._window = settings.window
        self._schedule = schedule

    def of(self, deploy: Deploy, share: float) -> float:
        """When that share of the window after *deploy* can be looked at."""
        return deploy.at + share * self._window + self._schedule.settle

    def first(self, deploy: Deploy) -> float:
        """When *deploy* can be looked at first."""
        return self.of(deploy, self.looks[0])

    def final(self, deploy: Deploy) -> float:
        """When the whole window can be looked at."""
        return self.of(deploy, 1.0)

    def latest_due(self, deploy: Deploy, now: float) -> int:
        """Index of the latest look that is due; missed looks are skipped."""
        return max(
            index
            for index, share in enumerate(self.looks)
            if index == 0 or self.of(deploy, share) <= now
        )

    def forgotten_before(self, now: float) -> float:
        """Deploys before this are of no use: lookback and retention are over."""
        schedule = self._schedule
        oldest = max(schedule.lookback, schedule.retention)
        oldest += schedule.give_up_after + self._window + schedule.settle
        return now - oldest
