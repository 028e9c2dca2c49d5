from __future__ import annotations

import threading

from exporter.periodic.task import PeriodicTask

HOUR = 3600.0


def test_a_task_starts_when_it_is_woken_and_not_an_interval_later() -> None:
    ran = threading.Event()
    task = PeriodicTask("task", ran.set, interval=HOUR, first=0.0)

    task.start()
    assert not ran.is_set()
    task.wake()

    assert ran.wait(10)
    task.close()


def test_a_task_that_failed_runs_again() -> None:
    runs = threading.Semaphore(0)

    def fail() -> None:
        runs.release()
        raise RuntimeError("password=hunter2")

    task = PeriodicTask("task", fail, interval=0.01, first=0.0)
    task.start()
    task.wake()

    assert all(runs.acquire(timeout=10) for _ in range(3))
    task.close()


def test_a_closed_task_ends_its_thread_even_if_it_was_never_woken() -> None:
    task = PeriodicTask("task to close", lambda: None, interval=HOUR, first=HOUR)
    task.start()

    task.close()

    named = [t for t in threading.enumerate() if t.name == "task to close"]
    for thread in named:
        thread.join(10)
    assert not any(thread.is_alive() for thread in named)
