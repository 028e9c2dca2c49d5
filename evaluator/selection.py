"""What arguments choose: the engine, the window, and a moment that has passed."""

from __future__ import annotations

import time

from msgspec.structs import replace

from .config import EngineConfig
from .errors import ConfigurationError
from .units import show_duration, show_time
from .validation import Duration


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
