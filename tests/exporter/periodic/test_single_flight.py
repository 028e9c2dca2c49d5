"""Sharing and deadlines, with work that waits for an event instead of a server."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from exporter.periodic.single_flight import SingleFlight
from lab.process import wait_until

LONG = 30.0


class Server:
    """Work that takes until it is released or aborted."""

    def __init__(self) -> None:
        self.started = threading.Semaphore(0)
        self.runs = 0
        self.together = 0
        self.most_together = 0
        self._free = threading.Event()
        self.flights = SingleFlight(self.abort)

    def release(self) -> None:
        self._free.set()

    def abort(self) -> None:
        self._free.set()

    def work(self, _: float) -> str:
        self.runs += 1
        self.together += 1
        self.most_together = max(self.most_together, self.together)
        self.started.release()
        assert self._free.wait(LONG)
        self._free.clear()
        self.together -= 1
        return f"result {self.runs}"

    def other_work(self, _: float) -> str:
        return "other result"


def soon(seconds: float = LONG) -> float:
    return time.monotonic() + seconds


def test_callers_who_want_the_same_work_share_its_result() -> None:
    server = Server()
    with ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(server.flights.do, server.work, soon())]
        server.started.acquire()
        waiting += [
            pool.submit(server.flights.do, server.work, soon()) for _ in range(19)
        ]
        wait_until(lambda: server.flights.waiting == 20, seconds=LONG, what="20 wait")

        server.release()

    assert {taken.result() for taken in waiting} == {"result 1"}
    assert server.runs == 1


def test_a_caller_who_wants_other_work_waits_for_the_first() -> None:
    server = Server()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(server.flights.do, server.work, soon())
        server.started.acquire()
        second = pool.submit(server.flights.do, server.other_work, soon())
        assert not second.done()

        server.release()

    assert (first.result(), second.result()) == ("result 1", "other result")


def test_work_that_hangs_is_aborted_at_its_deadline() -> None:
    server = Server()

    result = server.flights.do(server.work, soon(0.05))

    assert result is None
    assert server.flights.do(server.other_work, soon()) == "other result"


def test_a_caller_with_less_time_gives_up_without_ending_the_shared_work() -> None:
    server = Server()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(server.flights.do, server.work, soon())
        server.started.acquire()

        second = server.flights.do(server.work, soon(0.05))
        server.release()

    assert second is None
    assert first.result() == "result 1"


def test_a_caller_who_shared_aborted_work_gets_a_run_of_its_own() -> None:
    server = Server()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(server.flights.do, server.work, soon(0.05))
        server.started.acquire()
        second = pool.submit(server.flights.do, server.work, soon())
        server.started.acquire()
        server.release()

    assert (first.result(), second.result()) == (None, "result 2")


def test_no_two_pieces_of_work_run_at_the_same_time() -> None:
    server = Server()
    with ThreadPoolExecutor(30) as pool:
        for _ in range(30):
            pool.submit(server.flights.do, server.work, soon(0.01))

    assert server.most_together == 1


def test_what_the_work_raises_reaches_the_caller() -> None:
    def failing(deadline: float) -> str:
        raise LookupError("no such thing")

    with pytest.raises(LookupError, match="no such thing"):
        SingleFlight(lambda: None).do(failing, soon())


def test_stopping_frees_the_callers_that_wait() -> None:
    server = Server()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(server.flights.do, server.work, soon())
        server.started.acquire()

        server.flights.stop()

    assert waiting.result() is None
