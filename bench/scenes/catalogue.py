"""The scenes of the examination, by name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator

from . import around_deploy, events, mixture, shared
from .frame import Frame
from .scene import TABLES, Course, Scene


def slow_tails(rng: Generator, frame: Frame) -> Course:
    """One minute in fifty of a query has a call that is as slow as the whole minute.

    A Pareto number (exponent 2) of usual minutes, at most ten.
    """
    hit = rng.random((frame.q, frame.t)) < 0.02
    size = np.minimum(0.5 * (1.0 + rng.pareto(2.0, hit.shape)), 10.0)
    return Course(time=np.where(hit, 1.0 + size, 1.0))


_ALL = (
    Scene("quiet", "own noise only: AR(1) 0 to .6, CV .1 to .6"),
    Scene("8 groups", "exp(loading × factor of the group)", shared.groups(8)),
    Scene("2 groups", "the same, two halves", shared.groups(2)),
    Scene("locks", "a table stalls for 1–4 min, up to ×7", events.stalls),
    Scene("hourly cycle", "exp(.3 sin(t + own phase))", shared.cycle),
    Scene("traffic ramp", "traffic ×3 in 30 min, time ∝ traffic^0–.5", shared.ramp),
    Scene("restart", "cold for 5 min after the deploy", around_deploy.restart),
    Scene(
        "backup near",
        "4 in 10 up to ×2.5 from 8–15 min before or after",
        around_deploy.backup_near,
        most=1.5,
    ),
    Scene(
        "backup through",
        "4 in 10 up to ×2.5 from 20–90 min before",
        around_deploy.backup_through,
        most=1.5,
    ),
    Scene("checkpoints", "every 5 min, 45 s, up to ×2", events.checkpoints),
    Scene("vacuum", "of a table, 1–8 min, up to +40 %", events.vacuum),
    Scene("cron", "jobs every 10, 15, 30, 60 min", events.cron),
    Scene(
        "few calls",
        "4–20 calls a minute, CV .5–1.5 each",
        calls=(4.0, 20.0),
        spread=(0.5, 1.5),
    ),
    Scene("two plans", "×1.8 by turns", shared.two_plans, most=1.5, least=None),
    Scene(
        "missed scrapes",
        "jitter, 1 scrape in 30 and 1 sample in 100 lost",
        around_deploy.missed_scrapes,
        jitter=2.0,
    ),
    Scene("30 s scrapes", "own noise only", step=30.0),
    Scene("15 s scrapes", "own noise only", step=15.0),
    Scene("outage", "no scrape for 3–7 min at the deploy", around_deploy.outage),
    Scene(
        "earlier deploys",
        "level shifts of 1 query in 10, 1–3 times",
        around_deploy.earlier_deploys,
    ),
    Scene(
        "late", "regressions begin 1–4 min after the deploy", onset=around_deploy.late
    ),
    Scene("gradual", "regressions grow for 8 min", onset=around_deploy.gradual),
    Scene("slow tails", "a slow call in one minute of 50", slow_tails),
    Scene(
        "one table",
        "all queries of two tables regress",
        shared.one_table,
        regressed=1.0 / TABLES,
        most=1.5,
    ),
    Scene("a day", "a mixture as in production", mixture.day),
)
SCENES: Mapping[str, Scene] = {scene.name: scene for scene in _ALL}
