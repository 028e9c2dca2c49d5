"""Label sets, rendered once and kept.

Rendering is what costs in a page of 60,000 series, and the labels of a statement do not
change from scrape to scrape.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence

from .snapshot import Names, StatementKey, Statements
from .texts import Text

Pairs = tuple[tuple[str, str], ...]


class Labels:
    """Names and values of one series.

    Attributes:
        pairs: as given, in order.
        text: ``{name="value",…}`` with the value escaped; empty without labels.
    """

    __slots__ = ("pairs", "text")

    def __init__(self, *pairs: tuple[str, str]) -> None:
        self.pairs: Pairs = pairs
        inside = ",".join(f'{name}="{escaped(value)}"' for name, value in pairs)
        self.text = f"{{{inside}}}" if pairs else ""

    def and_also(self, *pairs: tuple[str, str]) -> Labels:
        """The same labels and more."""
        return Labels(*self.pairs, *pairs)


NONE = Labels()


def escaped(value: str) -> str:
    """Escape as the text format 0.0.4 and OpenMetrics 1.0 both ask."""
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


class LabelBook:
    """Labels of the statements of one server, kept as long as these are seen."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names = Names()
        self._kept: dict[StatementKey, Labels] = {}
        self._info: dict[StatementKey, tuple[Text, Labels]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, statements: Statements) -> Sequence[Labels]:
        """Labels in the order of the keys; a renamed role makes all labels anew."""
        with self._lock:
            if statements.names != self._names:
                self._names, self._kept, self._info = statements.names, {}, {}
            known = self._kept
            labels = [
                known.get(key) or statement_labels(key, self._names)
                for key in statements.keys
            ]
            self._kept = dict(zip(statements.keys, labels, strict=True))
            return labels

    def info(
        self, statements: Statements, texts: Mapping[StatementKey, Text]
    ) -> Sequence[Labels]:
        """Labels with the text, of those statements whose text is known."""
        plain = self.of(statements)
        with self._lock:
            info = {}
            for key, labels in zip(statements.keys, plain, strict=True):
                text = texts.get(key)
                if text is None or not text.query:
                    continue
                known = self._info.get(key)
                if known is None or known[0] is not text:
                    known = text, labels.and_also(*_text_labels(text))
                info[key] = known
            self._info = info
            return [labels for _, labels in info.values()]


def _text_labels(text: Text) -> Iterator[tuple[str, str]]:
    if text.fingerprint:
        yield "fingerprint", text.fingerprint
    yield "query", text.query


def statement_labels(key: StatementKey, names: Names) -> Labels:
    """``user, datname, queryid, toplevel``; the last only where the server tells it.

    The queryid is a signed 64-bit number and stays a decimal string.
    """
    pairs = [
        ("user", names.roles[key.userid]),
        ("datname", names.databases[key.dbid]),
        ("queryid", str(key.queryid)),
    ]
    if key.toplevel is not None:
        pairs.append(("toplevel", "true" if key.toplevel else "false"))
    return Labels(*pairs)
