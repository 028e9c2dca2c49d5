from __future__ import annotations

import threading

from exporter.background import Background

HOUR = 3600.0


def test_work_begins_when_it_is_woken_and_not_an_interval_later() -> None:
    worked = threading.Event()
    background = Background("work", worked.set, interval=HOUR, first=0.0)

    background.start()
    assert not worked.is_set()
    background.wake()

    assert worked.wait(10)
    background.close()


def test_work_that_failed_is_done_again() -> None:
    runs = threading.Semaphore(0)

    def fail() -> None:
        runs.release()
        raise RuntimeError("password=hunter2")

    background = Background("work", fail, interval=0.01, first=0.0)
    background.start()
    background.wake()

    assert all(runs.acquire(timeout=10) for _ in range(3))
    background.close()


def test_closed_work_ends_its_thread_though_it_was_never_woken() -> None:
    background = Background("work to close", lambda: None, interval=HOUR, first=HOUR)
    background.start()

    background.close()

    named = [t for t in threading.enumerate() if t.name == "work to close"]
    for thread in named:
        thread.join(10)
    assert not any(thread.is_alive() for thread in named)
