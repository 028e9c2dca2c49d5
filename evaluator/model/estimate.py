"""A number and how well it is known."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with the ends of its 95 % interval; None where that is not known."""

    value: float
    low: float | None = None
    high: float | None = None
