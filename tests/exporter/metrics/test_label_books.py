from __future__ import annotations

from exporter.metrics.label_books import LabelBook, TextBook, extended
from exporter.metrics.labels import statement_labels
from exporter.values.snapshot import Names

from ..builders import NAMES, key, statements

HIDDEN = ""


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

    reversed_order = book.of(statements(key(2), key(1)))

    assert reversed_order == [statement_labels(key(n), NAMES) for n in (2, 1)]


def test_a_renamed_role_gets_new_labels() -> None:
    book = LabelBook()
    book.of(statements(key(1)))
    renamed = Names({10: "application"}, NAMES.databases)

    (rendered,) = book.of(statements(key(1), names=renamed))

    assert 'user="application"' in rendered


def test_further_labels_follow_those_of_their_statement() -> None:
    seen = statements(key(1), key(2), key(3))
    texts = {key(2): 'query="SELECT 1"', key(3): HIDDEN}

    rendered = extended(seen, LabelBook().of(seen), texts)

    plain = statement_labels(key(2), NAMES)
    assert rendered == [plain.replace("}", ',query="SELECT 1"}')]


def test_a_text_that_was_read_is_not_missing_even_if_it_must_be_hidden() -> None:
    book = TextBook()
    texts = {key(1): 'query="SELECT 1"', key(2): HIDDEN}

    book.learn(texts, seen=[key(1), key(2), key(3)])

    assert book.missing([key(1), key(2), key(3)]) == [key(3)]


def test_texts_of_statements_that_are_gone_are_forgotten() -> None:
    book = TextBook()
    book.learn({key(1): 'query="SELECT 1"'}, seen=[key(1)])

    book.learn({key(2): 'query="SELECT 2"'}, seen=[key(2)])

    assert set(book.known) == {key(2)}
