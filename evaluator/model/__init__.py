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
from .effects import (
    CallFlood,
    Contribution,
    Effects,
    Improvement,
    LoadChange,
    LoadKind,
    LoadPart,
    MeasureErrors,
    MovedCost,
    NewStatement,
    Usage,
    Vanished,
)
from .estimate import Estimate
from .intervals import QueryIntervals
from .method import CALIBRATED, CLASSIC, METHODS, Method
from .panel import Assessment, Panel
from .report import DataQuality, Decision, DecisionKind, Reason, Report, Settings
from .shared_factor import Jump, SharedFactor
from .shared_rise import Severity, SharedRise
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
    "CallFlood",
    "Cause",
    "CauseKind",
    "ChangePoint",
    "Check",
    "CheckResult",
    "ContextSeries",
    "Contribution",
    "DataQuality",
    "Decision",
    "DecisionKind",
    "Deploy",
    "DeployKind",
    "Drift",
    "Effect",
    "Effects",
    "Estimate",
    "Flags",
    "Floats",
    "Improvement",
    "Jump",
    "Level",
    "LoadChange",
    "LoadKind",
    "LoadPart",
    "MeasureErrors",
    "Method",
    "MovedCost",
    "NewStatement",
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
    "Severity",
    "SharedFactor",
    "SharedRise",
    "Shift",
    "Significance",
    "Stage",
    "Subject",
    "Surroundings",
    "Usage",
    "Vanished",
    "Verdict",
    "WelchTest",
    "Window",
    "join",
]
