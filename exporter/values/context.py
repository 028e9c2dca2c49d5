"""Numbers about the server as a whole, beside those of its statements. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ContextMetric:
    """What a server-wide number is called.

    Args:
        label: name of the metric's only label; empty without one.
    """

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class ContextRow:
    """One number about the server as a whole.

    Args:
        label_value: value of the metric's label; None where it has no label.
    """

    metric: ContextMetric
    label_value: str | None
    value: float
