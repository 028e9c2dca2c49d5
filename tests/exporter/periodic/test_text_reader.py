from __future__ import annotations

from exporter.periodic.single_flight import SingleFlight
from exporter.periodic.text_reader import TextReader, TextSettings
from exporter.postgres.connecting.connection import ServerConnection
from exporter.postgres.connecting.dsn import fixed

from ..builders import key


def reader_of_nothing() -> TextReader:
    """A reader whose server is a port that refuses connections."""
    connection = ServerConnection(fixed("host=127.0.0.1 port=1 user=a"))
    settings = TextSettings(length=200, interval=60, timeout=5)
    flights = SingleFlight(connection.abort)
    return TextReader("default", connection, flights, settings)


def test_without_new_statements_nothing_is_read() -> None:
    reader = reader_of_nothing()

    reader.read()

    assert reader.failures == 0


def test_a_read_cut_off_by_the_end_of_the_program_is_not_a_failure() -> None:
    reader = reader_of_nothing()
    reader.saw([key(1)])
    reader.close()

    reader.read()

    assert reader.failures == 0


def test_a_failure_is_counted_and_the_read_tried_again() -> None:
    reader = reader_of_nothing()
    reader.saw([key(1)])

    reader.read()
    reader.read()

    assert reader.failures == 2
    assert reader.book.missing([key(1)]) == [key(1)]
