"""The configuration under the name that it had in the first release.

Scripts that judge captures import it from here; new ones take ``settings.schema``.
"""

from __future__ import annotations

from .settings.schema import EngineConfig

__all__ = ["EngineConfig"]
