from __future__ import annotations

from exporter.database import Database
from exporter.dsn import fixed
from exporter.textreader import TextReader, TextSettings
from exporter.turns import Turns

from .builders import key


def reader_of_nothing() -> TextReader:
    """One whose server is a port that refuses."""
    database = Database(fixed("host=127.0.0.1 port=1 user=a"))
    turns = Turns(database.abort)
    return TextReader("default", database, turns, TextSettings(timeout=5))


def test_without_new_statements_the_server_is_not_asked() -> None:
    reader = reader_of_nothing()

    reader.read()

    assert reader.failures == 0


def test_a_read_that_the_end_cuts_off_is_no_failure() -> None:
    reader = reader_of_nothing()
    reader.saw([key(1)])
    reader.close()

    reader.read()

    assert reader.failures == 0


def test_a_failure_is_counted_and_tried_again() -> None:
    reader = reader_of_nothing()
    reader.saw([key(1)])

    reader.read()
    reader.read()

    assert reader.failures == 2
    assert reader.book.missing([key(1)]) == [key(1)]
