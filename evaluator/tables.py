"""Rows of text under each other, and names for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .model import QueryKey

# What a terminal that knows only ASCII gets instead.
_PLAIN = str.maketrans(
    {
        "×": "x",
        "µ": "u",
        "≤": "<=",
        "≥": ">=",
        "→": "->",
        "–": "-",
        "−": "-",
        "±": "+-",
        "…": "...",
        "·": "*",
        "’": "'",
        "•": "*",
        "│": "|",
        "─": "-",
        "└": "+",
        "▲": "^",
    }
)


def aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Numbers to the right, the last column to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        numbers = (
            cell.rjust(width) for cell, width in zip(row[:-1], widths[:-1], strict=True)
        )
        yield "  ".join([*numbers, row[-1]]).rstrip()


def describe_key(key: QueryKey) -> str:
    """One query for a person, such as ``app@shop on db1:9719, queryid 42``."""
    nested = ", nested" if key.toplevel == "false" else ""
    return f"{key.user}@{key.database} on {key.instance}, queryid {key.queryid}{nested}"


def writable(text: str, encoding: str) -> str:
    """*text* as it is where *encoding* can write it, else in ASCII."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode("ascii", "replace").decode("ascii")
    return text
