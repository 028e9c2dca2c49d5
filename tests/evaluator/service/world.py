"""What the loop sees of the world: triggers, counters, a place to publish, a clock."""

from __future__ import annotations

import numpy as np
from prometheus_client import CollectorRegistry

from evaluator.model import DataQuality, Settings
from evaluator.service.loop import Outside, Service
from evaluator.service.schedule import Schedule
from evaluator.sinks.gauges import Gauges
from evaluator.sources.readings import Reading
from evaluator.sources.surroundings import Found
from evaluator.triggers.inbox import Inbox
from evaluator.triggers.port import Mark
from tests.builders import DEPLOY_AT, counters, deploy, noise
from tests.queries import batches

CLASSIC = Settings(engine="classic")
WINDOW = CLASSIC.window
SCHEDULE = Schedule(settle=90, lookback=86_400, give_up_after=7200, retention=86_400)
DUE = DEPLOY_AT + WINDOW + SCHEDULE.settle


class ListedMarks:
    """A trigger that announces what the test says."""

    def __init__(self, *marks, name="listed"):
        self.name = name
        self.announced = list(marks)
        self.error = None

    def marks(self, start, end):
        if self.error:
            raise self.error
        return [m for m in self.announced if start <= m.deploy.at <= end]


class World:
    """What surrounds the loop; attributes ending in ``error`` are raised when set."""

    def __init__(self):
        self.now = DEPLOY_AT + 60
        self.trigger = ListedMarks(Mark(deploy()))
        self.published = []
        self.read_error = self.publish_error = None
        self.inbox = Inbox()
        self.context = Found()
        self.asked = None
        step = np.where(np.arange(60) < 30, 1.0, 1.5)
        quiet = 0.01 * noise(np.random.default_rng(1))
        quality = DataQuality(series=1)
        self.reading = Reading(batches([counters(quiet * step)]), quality, None, None)
        self.unchanged = Reading(batches([counters(quiet)]), quality, None, None)
        short = np.where((np.arange(60) >= 30) & (np.arange(60) < 41), 1.5, 1.0)
        self.slow_at_first = Reading(
            batches([counters(quiet * short)]), quality, None, None
        )

    def outside(self):
        return Outside(
            triggers=[self.trigger],
            read=self.read,
            around=lambda *_: self.context,
            selector_for=lambda _: "",
            publish=self.publish,
        )

    def service(self, ledger, *, outside=None, settings=CLASSIC):
        """As after a start: with metrics of its own, which are read from here on."""
        self.registry = CollectorRegistry()
        return Service(
            outside or self.outside(),
            ledger,
            Gauges(self.registry),
            settings,
            SCHEDULE,
            lambda: self.now,
            self.inbox,
        )

    def read(self, _deploy, start, end):
        if self.read_error:
            raise self.read_error
        self.asked = (start, end)
        return self.reading

    def publish(self, report):
        if self.publish_error:
            raise self.publish_error
        self.published.append(report)

    def metric(self, name, **labels):
        return self.registry.get_sample_value(f"pgverdict_{name}", labels)

    def queries(self, outcome):
        labels = {"deploy": "grafana-1", "service": "shop", "environment": ""}
        return self.metric("deploy_queries", outcome=outcome, **labels)

    def errors(self, step):
        return self.metric("errors_total", step=step)

    def pending(self):
        return self.metric("deploys_pending")

    def last_success(self, step):
        return self.metric("last_success_timestamp_seconds", step=step)
