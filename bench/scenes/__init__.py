"""Deploys over many queries of a simulated server, and how well they are judged."""

from __future__ import annotations

from .catalogue import SCENES
from .counters import make
from .scene import Example, Scene

__all__ = ["SCENES", "Example", "Scene", "make"]
