"""Ask for the next answer while the last one is being worked on."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

# Answers that wait besides the one that is worked on; each may be some megabytes.
_WAITING = 1
# How often the thread looks whether anybody still wants its answers, seconds.
_LOOK = 0.1


@dataclass(frozen=True, slots=True)
class _Ended:
    """What ended the requests: nothing, or their error."""

    error: Exception | None = None


def prefetched(answers: Iterable[T]) -> Generator[T]:
    """The same answers in the same order, one ahead, asked for by one other thread.

    Only that thread uses what *answers* uses until the iteration ends. It is a daemon:
    whoever stops early, by Ctrl-C for example, does not wait for a slow answer.

    Raises:
        Exception: what getting an answer raised, at its place in the order.
    """
    waiting: queue.Queue[T | _Ended] = queue.Queue(maxsize=_WAITING)
    unwanted = threading.Event()

    def put(item: T | _Ended) -> None:
        while not unwanted.is_set():
            try:
                waiting.put(item, timeout=_LOOK)
            except queue.Full:
                continue
            return

    def ask() -> None:
        error: Exception | None = None
        try:
            for answer in answers:
                put(answer)
                if unwanted.is_set():
                    return
        except Exception as problem:
            error = problem
        put(_Ended(error))

    threading.Thread(target=ask, name="prefetch", daemon=True).start()
    try:
        while not isinstance(item := waiting.get(), _Ended):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        unwanted.set()
