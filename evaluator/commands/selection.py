"""What arguments choose: the engine, the window, a moment, and what is near it."""

from __future__ import annotations

import time

import structlog
from msgspec.structs import replace

from ..assembly import Systems
from ..errors import ConfigurationError, SourceError
from ..model import Deploy
from ..settings.schema import EngineConfig
from ..settings.validation import Duration
from ..units import show_duration, show_time

log = structlog.get_logger()


def engine_with(
    engine: EngineConfig, *, window: float | None = None, name: str | None = None
) -> EngineConfig:
    """The engine's settings with what an argument overrides."""
    if window is not None:
        engine = replace(engine, window=Duration(window))
    return engine if name is None else replace(engine, engine=name)


def must_have_passed(at: float, window: float, argument: str = "--at") -> None:
    """A window that is still open holds half a story.

    Args:
        argument: what the time came from.

    Raises:
        ConfigurationError: the window after *at* is still open.
    """
    now = time.time()
    if at > now:
        raise ConfigurationError(
            f"{argument}: {show_time(at)} lies {show_duration(at - now)} in the future"
        )
    if at + window > now:
        raise ConfigurationError(
            f"{argument}: the window after {show_time(at)} ends at "
            f"{show_time(at + window)}, in {show_duration(at + window - now)}; wait, "
            "or take a shorter --window"
        )


def known_neighbours(systems: Systems, one: Deploy, window: float) -> list[Deploy]:
    """Other deploys only explain; a Grafana that is down must not cost the verdict."""
    try:
        return systems.neighbours(one, window)
    except SourceError as error:
        log.warning("other deploys are not known", error=str(error))
        return []
