"""What arguments choose: the engine, the window, a moment, and deploys near it."""

from __future__ import annotations

import time

import structlog
from msgspec.structs import replace

from ..assembly import Systems
from ..errors import ConfigurationError, SourceError
from ..model import Deploy
from ..service.overlap import overlapping_deploys, without_own_mark
from ..settings.schema import EngineConfig
from ..settings.validation import Duration
from ..units import show_duration, show_time

log = structlog.get_logger()


def engine_with(
    engine: EngineConfig, *, window: float | None = None, name: str | None = None
) -> EngineConfig:
    """The engine's settings, some overridden by an argument."""
    if window is not None:
        engine = replace(engine, window=Duration(window))
    return engine if name is None else replace(engine, engine=name)


def must_have_passed(at: float, window: float, argument: str = "--at") -> None:
    """Refuse a window that is still open: it would hold half of the data.

    Args:
        argument: where the time came from.

    Raises:
        ConfigurationError: the window after *at* is still open.
    """
    now = time.time()
    if at > now:
        raise ConfigurationError(
            f"{argument}: {show_time(at)} is {show_duration(at - now)} in the future"
        )
    if at + window > now:
        raise ConfigurationError(
            f"{argument}: the window after {show_time(at)} ends at "
            f"{show_time(at + window)}, in {show_duration(at + window - now)}; wait, "
            "or take a shorter --window"
        )


def known_overlapping(systems: Systems, deploy: Deploy, window: float) -> list[Deploy]:
    """Marked deploys within *window* seconds that touch the same databases.

    They only explain a verdict: a Grafana that is down must not cost it.
    """
    try:
        marks = systems.find(deploy.at - window, deploy.at + window)
    except SourceError as error:
        log.warning("other deploys are not known", error=str(error))
        return []
    others = without_own_mark(deploy, (mark.deploy for mark in marks))
    return overlapping_deploys(deploy, others, systems.selector_for)
