from __future__ import annotations

import pytest

from exporter.texts import (
    HIDDEN,
    TextBook,
    fingerprint_of,
    may_hold_secret,
    text_of,
)

from .builders import key


def test_the_same_statement_has_the_same_fingerprint_however_it_is_written() -> None:
    written = [
        "SELECT a FROM t WHERE b = $1",
        "select  a\nfrom t where b = 42",
        "SELECT a FROM t WHERE b = $3 /* from the shop */",
    ]

    assert len({fingerprint_of(query) for query in written}) == 1


def test_another_statement_has_another_fingerprint() -> None:
    assert fingerprint_of("SELECT a FROM t") != fingerprint_of("SELECT b FROM t")


def test_what_the_parser_does_not_know_has_no_fingerprint() -> None:
    assert text_of("SELEC 1", "SELEC 1") == 'query="SELEC 1"'


def test_a_text_is_escaped_and_stands_beside_its_fingerprint() -> None:
    query = 'SELECT "a\nb" FROM t'

    shown = text_of(query, query)

    assert shown.startswith(f'fingerprint="{fingerprint_of(query)}",')
    assert shown.endswith(r',query="SELECT \"a\nb\" FROM t"')


def test_a_text_too_long_to_parse_is_shown_without_fingerprint() -> None:
    assert text_of("SELECT 1", None) == 'query="SELECT 1"'


@pytest.mark.parametrize(
    "query",
    [
        "ALTER ROLE app PASSWORD 'hunter2'",
        "create user app encrypted password 'hunter2'",
        "/* c */ ALTER ROLE app WITH PASSWORD 'hunter2'",
        "CREATE SUBSCRIPTION s CONNECTION 'host=a password=b' PUBLICATION p",
        "CREATE USER MAPPING FOR app SERVER s OPTIONS (user 'a', pass 'b')",
    ],
)
def test_statements_whose_constants_may_be_secret_are_not_shown(query: str) -> None:
    assert may_hold_secret(query)
    assert text_of(query, query) == HIDDEN


@pytest.mark.parametrize(
    "query",
    [
        "SELECT password FROM users WHERE id = $1",
        "  WITH x AS (SELECT $1) SELECT token FROM x",
        "VACUUM orders",
        "BEGIN",
    ],
)
def test_statements_without_constants_are_shown(query: str) -> None:
    assert not may_hold_secret(query)


def test_what_came_is_not_missing_even_if_it_must_be_hidden() -> None:
    book = TextBook()
    found = {key(1): 'query="SELECT 1"', key(2): HIDDEN}

    book.learn(found, seen=[key(1), key(2), key(3)])

    assert book.missing([key(1), key(2), key(3)]) == [key(3)]


def test_texts_of_statements_that_are_gone_are_forgotten() -> None:
    book = TextBook()
    book.learn({key(1): 'query="SELECT 1"'}, seen=[key(1)])

    book.learn({key(2): 'query="SELECT 2"'}, seen=[key(2)])

    assert set(book.known) == {key(2)}
