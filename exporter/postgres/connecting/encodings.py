"""Bytes that the server stores ↔ text, by the name of an encoding. Pure.

The server is asked not to convert anything: it refuses a whole answer when it cannot
convert one value of it. Names of roles and databases are shared by databases of all
encodings, and a database in SQL_ASCII holds any bytes.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass

ANY_BYTES = "SQL_ASCII"
UTF8 = "UTF8"
# Encodings that Python knows under another name. Source: PostgreSQL documentation,
# 23.3.1, and the table of Python's codecs.
_PYTHON_NAMES = {
    "EUC_CN": "gb2312",
    "EUC_JIS_2004": "euc_jis_2004",
    "KOI8R": "koi8_r",
    "KOI8U": "koi8_u",
    "LATIN6": "iso8859_10",
    "LATIN7": "iso8859_13",
    "LATIN8": "iso8859_14",
    "LATIN9": "iso8859_15",
    "LATIN10": "iso8859_16",
}


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoding of PostgreSQL.

    Args:
        name: as PostgreSQL spells it.
    """

    name: str

    @property
    def codec(self) -> str | None:
        """Python's name for it; None for any bytes, and where Python lacks it."""
        if self.name == ANY_BYTES:
            return None
        name = _PYTHON_NAMES.get(self.name, self.name.replace("WIN", "cp"))
        try:
            return codecs.lookup(name).name
        except LookupError:
            return None

    def exactly(self, data: bytes) -> str:
        """Text from which :meth:`encode` makes the same bytes again."""
        return data.decode(self.codec or "utf-8", "surrogateescape")

    def encode(self, text: str) -> bytes:
        """Bytes of *text*, for the server."""
        return text.encode(self.codec or "utf-8", "surrogateescape")


def name_shown(data: bytes, encoding: Encoding) -> str:
    """A name as most databases would show it: UTF-8, else *encoding*, else escaped."""
    for codec in ("utf-8", encoding.codec or "utf-8"):
        try:
            return data.decode(codec)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "backslashreplace")


def text_shown(data: bytes, *encodings: Encoding) -> str:
    """A text by the first of *encodings* that fits, else as UTF-8, else escaped.

    Bytes at the end that are only the beginning of a character are left out.
    """
    for codec in [*(encoding.codec for encoding in encodings), "utf-8"]:
        if codec is None:
            continue
        try:
            return codecs.getincrementaldecoder(codec)().decode(data)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "backslashreplace")
