"""What is known of the statements' plans, and why a statement has none. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from .snapshot import LabelPairs, StatementKey


class Skipped(StrEnum):
    """Why a statement has no plan; values of the label ``reason``."""

    SERVER_TOO_OLD = "server_too_old"
    OTHER_DATABASE = "other_database"
    NO_TEXT = "no_text"
    NOT_EXPLAINABLE = "not_explainable"
    NO_GENERIC_PLAN = "no_generic_plan"
    NO_PRIVILEGE = "no_privilege"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is shown of a plan.

    Args:
        plan_id: 16 hexadecimal digits.
        outline: for a person to read, such as ``Limit > Sort > Seq Scan orders``.
    """

    plan_id: str
    outline: str

    @property
    def labels(self) -> LabelPairs:
        """The labels ``plan_id`` and ``plan``."""
        return ("plan_id", self.plan_id), ("plan", self.outline)


@dataclass(frozen=True, slots=True)
class Plans:
    """The result of one round of reading plans.

    Args:
        known: the plan of each statement that has one.
        skipped: number of statements without a plan, by reason.
        ended: when the round ended, Unix seconds; 0 before the first.
    """

    known: Mapping[StatementKey, Plan]
    skipped: Mapping[Skipped, int]
    ended: float = 0.0
