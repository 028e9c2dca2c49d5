"""Labels of the statements of one server, rendered once and kept. Pure.

Rendering is the main cost of a page of 60,000 series, and the labels of a statement do
not change from scrape to scrape.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence

from ..values.snapshot import Names, StatementKey, Statements
from .labels import statement_labels


class LabelBook:
    """Labels that name the statements, kept as long as these are seen."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names = Names()
        self._kept: dict[StatementKey, str] = {}
        self._keys: Sequence[StatementKey] = ()
        self._labels: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, statements: Statements) -> Sequence[str]:
        """Labels in the order of the keys; if a role was renamed, all are new."""
        with self._lock:
            if statements.names != self._names:
                self._names, self._kept, self._keys = statements.names, {}, ()
            # Mostly the server has the same statements, and in the same order.
            if statements.keys != self._keys:
                known, names = self._kept, self._names
                self._keys = statements.keys
                self._labels = [
                    known.get(key) or statement_labels(key, names) for key in self._keys
                ]
                self._kept = dict(zip(self._keys, self._labels, strict=True))
            return self._labels


class TextBook:
    """Labels of the statements' texts, kept as long as the statements are seen."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: Mapping[StatementKey, str] = {}

    @property
    def known(self) -> Mapping[StatementKey, str]:
        """Labels without braces, empty to show nothing; never changed afterwards."""
        return self._known

    def missing(self, keys: Iterable[StatementKey]) -> list[StatementKey]:
        """The statements whose text was never read."""
        return [key for key in keys if key not in self._known]

    def learn(
        self, new: Mapping[StatementKey, str], *, seen: Iterable[StatementKey]
    ) -> None:
        """Keep *new* labels.

        Args:
            seen: statements that still exist; others are forgotten.
        """
        with self._lock:
            known = {**self._known, **new}
            existing = frozenset(seen)
            self._known = {key: text for key, text in known.items() if key in existing}


def extended(
    statements: Statements, plain: Sequence[str], further: Mapping[StatementKey, str]
) -> list[str]:
    """Labels of the statements that have *further* ones, with these added.

    Args:
        plain: labels of the statements, as a LabelBook gives them.
        further: labels without braces; a statement with empty ones is left out.
    """
    return [
        f"{labelled[:-1]},{more}}}"
        for key, labelled in zip(statements.keys, plain, strict=True)
        if (more := further.get(key))
    ]
