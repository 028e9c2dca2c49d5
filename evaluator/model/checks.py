"""How one verdict came about: the steps of its method, and what each of them needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class CheckResult(StrEnum):
    """What became of one query at one step."""

    PASSED = "passed"
    STOPPED = "stopped here"
    NOT_REACHED = "not reached"


@dataclass(frozen=True, slots=True)
class Check:
    """One step of a method.

    Args:
        needs: thresholds by the name of what is compared with them; empty where the
            step only prepares the next one.
    """

    name: str
    needs: Mapping[str, float]
    result: CheckResult
