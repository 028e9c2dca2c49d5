"""Answers that are asked for one ahead of the work on them."""

from __future__ import annotations

import threading

import pytest

from evaluator.transport.prefetch import prefetched
from lab.process import wait_until


def alive() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "prefetch"]


def test_the_answers_come_in_their_order():
    assert list(prefetched(range(100))) == list(range(100))


def test_without_any_question_there_is_not_an_answer():
    assert list(prefetched([])) == []


def test_an_error_comes_at_its_place_in_the_order():
    def answers():
        yield 1
        yield 2
        raise ValueError("the third went wrong")

    found = prefetched(answers())
    assert [next(found), next(found)] == [1, 2]
    with pytest.raises(ValueError, match="the third went wrong"):
        next(found)


def test_the_next_answer_is_asked_for_while_one_is_worked_on():
    asked = []

    def answers():
        for number in range(4):
            asked.append(number)
            yield number

    found = prefetched(answers())

    assert next(found) == 0
    wait_until(lambda: asked >= [0, 1], what="the next question")
    assert len(asked) <= 3
    found.close()


def test_whoever_stops_early_leaves_no_thread_behind():
    found = prefetched(iter(range(10**9)))
    next(found)

    found.close()

    wait_until(lambda: not alive(), what="the end of the thread")


def test_the_thread_does_not_keep_the_program_alive():
    never = threading.Event()

    def answers():
        yield 1
        never.wait()

    found = prefetched(answers())
    next(found)

    (thread,) = alive()
    assert thread.daemon
    never.set()
    found.close()
