"""Record: calls, jobs and scrapes, each in its own thread, for so many hours."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

from lab.postgres import MONITOR, PASSWORD, Postgres
from lab.programs import Exporter

from . import server
from .pages import scrape
from .schedule import jobs, segments
from .scripts import write_scripts

STEP = 15.0  # from one scrape to the next, seconds


@dataclass(frozen=True, slots=True)
class Plan:
    """What is recorded.

    Args:
        seconds: that the recording covers.
        speed: how many of them pass in one second of the clock; calls and their times
            are as they are, what is between two scrapes is a shorter stretch of time.
        rate: transactions in a second of the clock, on average.
        seed: of the schedule.
    """

    seconds: float
    speed: float
    rate: float
    seed: int


def record(path: Path, plan: Plan) -> None:
    """Append the pages to *path*; what else happens is printed."""
    with (
        server.postgres(plan.speed) as postgres,
        TemporaryDirectory(prefix="scripts-") as folder,
    ):
        server.prepare(postgres)
        scripts = write_scripts(Path(folder))
        dsn = postgres.dsn_for(MONITOR, PASSWORD)
        with Exporter(dsn) as exporter, path.open("a", encoding="utf-8") as file:
            clock = _Clock(plan.speed)
            threads = [
                Thread(target=_call, args=(postgres, plan, scripts, clock)),
                Thread(target=_jobs, args=(postgres, plan, clock)),
            ]
            for thread in threads:
                thread.start()
            try:
                for number in range(int(plan.seconds / STEP) + 1):
                    clock.wait(number * STEP)
                    scrape(f"{exporter.url}/metrics", file, plan.speed)
            finally:
                clock.end.set()
                for thread in threads:
                    thread.join()


class _Clock:
    """Seconds since the recording began, as its samples are dated."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._started = time.monotonic()
        self.end = Event()

    def now(self) -> float:
        return (time.monotonic() - self._started) * self._speed

    def wait(self, until: float) -> bool:
        """Whether the recording ended before that moment came."""
        return self.end.wait(max(0.0, (until - self.now()) / self._speed))


def _call(
    postgres: Postgres, plan: Plan, scripts: Sequence[str], clock: _Clock
) -> None:
    for segment in segments(plan.seconds, plan.rate, plan.seed):
        left = min(segment.seconds, plan.seconds - clock.now()) / plan.speed
        if clock.end.is_set() or left < 1.0:
            return
        part = partial(server.call, postgres, segment.rate, left, scripts)
        _attempt("calls", part)


def _jobs(postgres: Postgres, plan: Plan, clock: _Clock) -> None:
    """One after the other; one that is late begins as soon as the last has ended."""
    for job in jobs(plan.seconds, plan.seed):
        if clock.wait(job.start):
            return
        begun = clock.now()
        _attempt(job.name, partial(server.JOBS[job.name], postgres, plan.speed))
        took = clock.now() - begun
        print(f"minute {begun / 60:.1f}: {job.name}, {took:.0f} s", flush=True)


def _attempt(name: str, action: Callable[[], None]) -> None:
    """A job that fails is shown; the recording goes on."""
    try:
        action()
    except Exception as error:
        message = getattr(error, "stderr", b"") or str(error)
        print(f"{name} failed: {message!r}", flush=True)
