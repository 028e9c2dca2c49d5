"""The methods that there are, by name; the first is the default."""

from __future__ import annotations

from collections.abc import Mapping

from .base import Detector
from .calibrated import Calibrated
from .classic import Classic

DETECTORS: Mapping[str, Detector] = {
    detector.method.name: detector for detector in (Calibrated(), Classic())
}
