"""What other threads hand in is taken up once, in its order, or refused."""

from __future__ import annotations

import pytest

from evaluator.triggers.inbox import Inbox, InboxRefusedError
from evaluator.triggers.port import Mark
from tests.builders import deploy


def mark(name):
    return Mark(deploy(id=name))


@pytest.fixture
def inbox():
    inbox = Inbox(limit=3)
    for name in "ab":
        inbox.put(mark(name))
    return inbox


def test_marks_come_out_once_and_in_their_order(inbox):
    taken: list[Mark] = []

    inbox.drain(taken.append)
    inbox.drain(taken.append)

    assert taken == [mark("a"), mark("b")]


def test_a_mark_that_cannot_be_written_stays_and_so_does_the_next(inbox):
    written = []

    def write(one):
        if one == mark("b"):
            raise OSError("disk full")
        written.append(one)

    inbox.put(mark("c"))
    with pytest.raises(OSError, match="disk full"):
        inbox.drain(write)

    assert written == [mark("a")]
    assert inbox.waiting == (mark("b"), mark("c"))


def test_a_flood_is_refused_until_there_is_room(inbox):
    inbox.put(mark("c"))
    with pytest.raises(InboxRefusedError, match="3 deploys wait"):
        inbox.put(mark("d"))

    inbox.drain(lambda _: None)
    inbox.put(mark("d"))

    assert inbox.waiting == (mark("d"),)


def test_a_closed_inbox_refuses_and_keeps_what_it_has(inbox):
    inbox.close()

    with pytest.raises(InboxRefusedError, match="stopping"):
        inbox.put(mark("c"))
    assert inbox.waiting == (mark("a"), mark("b"))
