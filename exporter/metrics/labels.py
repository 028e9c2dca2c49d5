"""Pairs of label name and value → the text of a label set. Pure."""

from __future__ import annotations

from ..values.snapshot import Names, StatementKey

NONE = ""


def labels(*pairs: tuple[str, str]) -> str:
    """``{name="value",…}``; empty without pairs."""
    return f"{{{inside(*pairs)}}}" if pairs else NONE


def inside(*pairs: tuple[str, str]) -> str:
    """The same without braces."""
    return ",".join(f'{name}="{escaped(value)}"' for name, value in pairs)


def escaped(value: str) -> str:
    """Escape as the text format 0.0.4 and OpenMetrics 1.0 both require."""
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def statement_labels(key: StatementKey, names: Names) -> str:
    """``user, datname, queryid, toplevel``; the last only where the server shows it.

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
