"""The engine's face: values in, verdicts out; no clock, no network, no sentences."""

from __future__ import annotations

from .detectors import DETECTORS
from .judge import judge
from .prepare.intervals import usable_intervals
from .prepare.lineage import follow

__all__ = ["DETECTORS", "follow", "judge", "usable_intervals"]
