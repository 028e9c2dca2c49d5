"""Which tables a statement names, by its text alone.

Without a parser, since a text may be cut: what follows FROM, JOIN, UPDATE, USING or
TABLE is a table or a function, of which only the function has a parenthesis. That is
enough to see that one statement may have replaced another.
"""

from __future__ import annotations

import re

_NAME = r'(?:"(?:[^"]|"")+"|[^\W\d][\w$]*)'
_FULL = rf"(?:only\s+)?({_NAME}(?:\s*\.\s*{_NAME})*)(?![\w$.])"
_TABLE = rf"{_FULL}(?!\s*\()"
_AFTER = re.compile(rf"\b(?:from|join|update|using|table)\s+{_TABLE}", re.I)
_INTO = re.compile(rf"\binto\s+{_FULL}", re.I)
_NEXT = re.compile(rf"(?:\s+(?:as\s+)?{_NAME})?\s*,\s*{_TABLE}", re.I)
_COMMON = re.compile(
    rf"(?:\bwith(?:\s+recursive)?|,)\s+({_NAME})\s*(?:\([^)]*\)\s*)?as\s", re.I
)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.S)
_STRING = re.compile(r"'(?:[^']|'')*'")
# What may follow the keywords, but is not a table.
_NOT_TABLES = {"select", "lateral", "set", "values", "unnest", "generate_series"}


def tables_of(text: str) -> frozenset[str]:
    """Names of the tables, lower case unless quoted, without their schema."""
    plain = _STRING.sub("''", _COMMENT.sub(" ", text))
    own = {_last(name) for name in _COMMON.findall(plain)}
    # The columns of an INSERT stand in a parenthesis, too.
    found = {_last(name) for name in _INTO.findall(plain)}
    for match in _AFTER.finditer(plain):
        found.add(_last(match[1]))
        following = _NEXT.match(plain, match.end())
        while following:
            found.add(_last(following[1]))
            following = _NEXT.match(plain, following.end())
    return frozenset(found - own - _NOT_TABLES)


def _last(name: str) -> str:
    last: str = re.findall(_NAME, name)[-1]
    return last[1:-1].replace('""', '"') if last.startswith('"') else last.lower()
