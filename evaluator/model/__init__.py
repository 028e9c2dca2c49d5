"""Every value that flows from a counter to a verdict; plain, frozen, in SI units.

Times are Unix seconds, durations seconds. Arrays are never written to after they have
been put into a value.
"""

from __future__ import annotations

from .batch import Batch, Flags, Floats, Places, QueryKey, join
from .checks import Check, CheckResult
from .context import (
    Cause,
    CauseKind,
    ContextSeries,
    PlanChange,
    PlanSeen,
    Shift,
    Surroundings,
)
from .intervals import QueryIntervals
from .method import CALIBRATED, CLASSIC, METHODS, Method
from .panel import Assessment, Panel
from .report import DataQuality, Decision, DecisionKind, Reason, Report, Settings
from .shared_factor import Jump, SharedFactor, SharedMovement
from .steps import (
    ChangePoint,
    Effect,
    Level,
    Significance,
    WelchTest,
    Window,
)
from .subject import Deploy, DeployKind, Drift, Subject
from .verdict import Outcome, Stage, Verdict

__all__ = [
    "CALIBRATED",
    "CLASSIC",
    "METHODS",
    "Assessment",
    "Batch",
    "Cause",
    "CauseKind",
    "ChangePoint",
    "Check",
    "CheckResult",
    "ContextSeries",
    "DataQuality",
    "Decision",
    "DecisionKind",
    "Deploy",
    "DeployKind",
    "Drift",
    "Effect",
    "Flags",
    "Floats",
    "Jump",
    "Level",
    "Method",
    "Outcome",
    "Panel",
    "Places",
    "PlanChange",
    "PlanSeen",
    "QueryIntervals",
    "QueryKey",
    "Reason",
    "Report",
    "Settings",
    "SharedFactor",
    "SharedMovement",
    "Shift",
    "Significance",
    "Stage",
    "Subject",
    "Surroundings",
    "Verdict",
    "WelchTest",
    "Window",
    "join",
]
