"""Every value that flows from a counter to a verdict; plain, frozen, in SI units.

Times are Unix seconds, durations seconds. Arrays are never written to after they have
been put into a value.
"""

from __future__ import annotations

from .panel import Calibration, Panel
from .report import DataQuality, Deploy, Report, Settings
from .series import CounterSeries, Floats, IntervalMeans, QueryKey
from .steps import ChangePoint, Comparison, Effect, Insufficient, WelchTest, Window
from .verdict import Outcome, Stage, Verdict

__all__ = [
    "Calibration",
    "ChangePoint",
    "Comparison",
    "CounterSeries",
    "DataQuality",
    "Deploy",
    "Effect",
    "Floats",
    "Insufficient",
    "IntervalMeans",
    "Outcome",
    "Panel",
    "QueryKey",
    "Report",
    "Settings",
    "Stage",
    "Verdict",
    "WelchTest",
    "Window",
]
