"""Sharing and deadlines, with work that waits for an event instead of a server."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from exporter.turns import Turns
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
        self.turns = Turns(self.abort)

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


def test_those_who_want_the_same_share_it() -> None:
    server = Server()
    with ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(server.turns.take, server.work, soon())]
        server.started.acquire()
        waiting += [
            pool.submit(server.turns.take, server.work, soon()) for _ in range(19)
        ]
        wait_until(lambda: server.turns.waiting == 20, seconds=LONG, what="20 wait")

        server.release()

    assert {taken.result() for taken in waiting} == {"result 1"}
    assert server.runs == 1


def test_those_who_want_something_else_wait_for_their_turn() -> None:
    server = Server()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(server.turns.take, server.work, soon())
        server.started.acquire()
        second = pool.submit(server.turns.take, server.other_work, soon())
        assert not second.done()

        server.release()

    assert (first.result(), second.result()) == ("result 1", "other result")


def test_work_that_hangs_is_aborted_at_its_deadline() -> None:
    server = Server()

    result = server.turns.take(server.work, soon(0.05))

    assert result is None
    assert server.turns.take(server.other_work, soon()) == "other result"


def test_a_guest_with_little_time_leaves_without_spoiling_it_for_the_host() -> None:
    server = Server()
    with ThreadPoolExecutor(1) as pool:
        host = pool.submit(server.turns.take, server.work, soon())
        server.started.acquire()

        guest = server.turns.take(server.work, soon(0.05))
        server.release()

    assert guest is None
    assert host.result() == "result 1"


def test_a_guest_of_aborted_work_gets_a_run_of_its_own() -> None:
    server = Server()
    with ThreadPoolExecutor(2) as pool:
        host = pool.submit(server.turns.take, server.work, soon(0.05))
        server.started.acquire()
        guest = pool.submit(server.turns.take, server.work, soon())
        server.started.acquire()
        server.release()

    assert (host.result(), guest.result()) == (None, "result 2")


def test_two_never_work_at_the_same_time() -> None:
    server = Server()
    with ThreadPoolExecutor(30) as pool:
        for _ in range(30):
            pool.submit(server.turns.take, server.work, soon(0.01))

    assert server.most_together == 1


def test_what_the_work_raises_reaches_everyone() -> None:
    def failing(deadline: float) -> str:
        raise LookupError("no such thing")

    with pytest.raises(LookupError, match="no such thing"):
        Turns(lambda: None).take(failing, soon())


def test_stopping_frees_whoever_waits() -> None:
    server = Server()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(server.turns.take, server.work, soon())
        server.started.acquire()

        server.turns.stop()

    assert waiting.result() is None
