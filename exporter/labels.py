"""Label sets as text, rendered once per statement and kept.

Rendering is what costs in a page of 60,000 series, and the labels of a statement do not
change from scrape to scrape.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from .snapshot import Names, StatementKey, Statements

NONE = ""


def labels(*pairs: tuple[str, str]) -> str:
    """``{name="value",…}``; empty without pairs."""
    return f"{{{inside(*pairs)}}}" if pairs else NONE


def inside(*pairs: tuple[str, str]) -> str:
    """The same without braces."""
    return ",".join(f'{name}="{escaped(value)}"' for name, value in pairs)


def escaped(value: str) -> str:
    """Escape as the text format 0.0.4 and OpenMetrics 1.0 both ask."""
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


class LabelBook:
    """Labels of the statements of one server, kept as long as these are seen."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names = Names()
        self._kept: dict[StatementKey, str] = {}
        self._keys: Sequence[StatementKey] = ()
        self._labels: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, statements: Statements) -> Sequence[str]:
        """Labels in the order of the keys; a renamed role makes all labels anew."""
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


def with_texts(
    statements: Statements, plain: Sequence[str], texts: Mapping[StatementKey, str]
) -> list[str]:
    """Labels with the text, of those statements whose text is known.

    Args:
        plain: labels of the statements, as a book gives them.
        texts: further labels without braces; empty ones show nothing.
    """
    return [
        f"{labelled[:-1]},{text}}}"
        for key, labelled in zip(statements.keys, plain, strict=True)
        if (text := texts.get(key))
    ]


def statement_labels(key: StatementKey, names: Names) -> str:
    """``user, datname, queryid, toplevel``; the last only where the server tells it.

    The queryid is a signed 64-bit number and stays a decimal string.
    """
    userid, dbid, queryid, toplevel = key
    pairs = [
        ("user", names.roles[userid]),
        ("datname", names.databases[dbid]),
        ("queryid", str(queryid)),
    ]
    if toplevel is not None:
        pairs.append(("toplevel", "true" if toplevel else "false"))
    return labels(*pairs)
