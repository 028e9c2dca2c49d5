"""Every value that flows from a counter to a verdict; plain, frozen, in SI units.

Times are Unix seconds, durations seconds. Arrays are never written to after they have
been put into a value.
"""

from __future__ import annotations

from .context import (
    Cause,
    CauseKind,
    ContextSeries,
    PlanChange,
    PlanSeen,
    Shift,
    Surroundings,
)
from .panel import Calibration, Panel
from .report import DataQuality, Decision, DecisionKind, Reason, Report, Settings
from .series import CounterSeries, Floats, IntervalMeans, QueryKey
from .steps import (
    ChangePoint,
    Comparison,
    Effect,
    Insufficient,
    Level,
    Significance,
    WelchTest,
    Window,
)
from .subject import Deploy, DeployKind, Drift, Subject
from .verdict import Outcome, Stage, Verdict

__all__ = [
    "Calibration",
    "Cause",
    "CauseKind",
    "ChangePoint",
    "Comparison",
    "ContextSeries",
    "CounterSeries",
    "DataQuality",
    "Decision",
    "DecisionKind",
    "Deploy",
    "DeployKind",
    "Drift",
    "Effect",
    "Floats",
    "Insufficient",
    "IntervalMeans",
    "Level",
    "Outcome",
    "Panel",
    "PlanChange",
    "PlanSeen",
    "QueryKey",
    "Reason",
    "Report",
    "Settings",
    "Shift",
    "Significance",
    "Stage",
    "Subject",
    "Surroundings",
    "Verdict",
    "WelchTest",
    "Window",
]
