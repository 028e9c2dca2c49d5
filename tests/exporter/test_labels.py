from __future__ import annotations

from exporter.labels import LabelBook, labels, statement_labels, with_texts
from exporter.snapshot import Names

from .builders import NAMES, key, statements


def test_a_statement_is_named_by_role_database_queryid_and_toplevel() -> None:
    found = statement_labels(key(-(2**63), toplevel=False), NAMES)

    assert found == (
        '{user="app",datname="shop",queryid="-9223372036854775808",toplevel="false"}'
    )


def test_toplevel_is_left_out_where_the_server_does_not_tell() -> None:
    found = statement_labels(key(1, toplevel=None), NAMES)

    assert "toplevel" not in found


def test_quotes_backslashes_and_newlines_are_escaped() -> None:
    found = labels(("query", 'say "a\\b"\nend'))

    assert found == r'{query="say \"a\\b\"\nend"}'


def test_labels_are_rendered_once_per_statement() -> None:
    book = LabelBook()
    first, second = statements(key(1), key(2)), statements(key(2), key(3))

    before, after = book.of(first), book.of(second)

    assert after[0] is before[1]


def test_statements_that_are_gone_are_forgotten() -> None:
    book = LabelBook()
    book.of(statements(key(1), key(2)))

    book.of(statements(key(2)))

    assert len(book) == 1


def test_the_order_of_the_labels_is_that_of_the_keys() -> None:
    book = LabelBook()
    book.of(statements(key(1), key(2)))

    turned = book.of(statements(key(2), key(1)))

    assert turned == [statement_labels(key(n), NAMES) for n in (2, 1)]


def test_a_renamed_role_gets_new_labels() -> None:
    book = LabelBook()
    book.of(statements(key(1)))
    renamed = Names({10: "application"}, NAMES.databases)

    (found,) = book.of(statements(key(1), names=renamed))

    assert 'user="application"' in found


def test_texts_come_with_the_labels_of_their_statement() -> None:
    seen = statements(key(1), key(2), key(3))
    texts = {key(2): 'query="SELECT 1"', key(3): ""}

    found = with_texts(seen, LabelBook().of(seen), texts)

    plain = statement_labels(key(2), NAMES)
    assert found == [plain.replace("}", ',query="SELECT 1"}')]
