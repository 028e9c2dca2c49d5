"""Optional measures that could not be read, and why. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Refusal(StrEnum):
    """Why a measure is missing; values of the label ``reason``.

    With ``not_offered`` the server's catalog has no such thing; everything else is the
    server's answer to an attempt to read it.
    """

    NOT_OFFERED = "not_offered"
    NOT_SUPPORTED = "not_supported"
    PERMISSION_DENIED = "permission_denied"
    TIMEOUT = "timeout"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Refused:
    """The server's refusal to answer one question.

    Args:
        sqlstate: of its error; empty where it was not asked.
    """

    refusal: Refusal
    sqlstate: str = ""


@dataclass(frozen=True, slots=True)
class MissingMeasure:
    """One measure that a page does not show.

    Args:
        measure: name of the metric.
    """

    measure: str
    why: Refused

    def __str__(self) -> str:
        code = f", SQLSTATE {self.why.sqlstate}" if self.why.sqlstate else ""
        return f"{self.measure} ({self.why.refusal}{code})"
