from __future__ import annotations

import pytest

from exporter.postgres.texts import (
    HIDDEN,
    fingerprint_of,
    may_hold_secret,
    text_labels,
)


def test_the_same_statement_has_the_same_fingerprint_however_it_is_written() -> None:
    written = [
        "SELECT a FROM t WHERE b = $1",
        "select  a\nfrom t where b = 42",
        "SELECT a FROM t WHERE b = $3 /* from the shop */",
    ]

    assert len({fingerprint_of(query) for query in written}) == 1


def test_another_statement_has_another_fingerprint() -> None:
    assert fingerprint_of("SELECT a FROM t") != fingerprint_of("SELECT b FROM t")


def test_what_cannot_be_parsed_has_no_fingerprint() -> None:
    assert text_labels("SELEC 1", "SELEC 1") == (("query", "SELEC 1"),)


def test_a_text_stands_beside_the_fingerprint_of_the_whole() -> None:
    whole = 'SELECT "a\nb" FROM t'

    labels = text_labels('SELECT "a\n', whole)

    assert labels == (
        ("fingerprint", fingerprint_of(whole)),
        ("query", 'SELECT "a\n'),
    )


def test_a_text_too_long_to_parse_is_shown_without_fingerprint() -> None:
    assert text_labels("SELECT 1", None) == (("query", "SELECT 1"),)


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
    assert text_labels(query, query) == HIDDEN


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
