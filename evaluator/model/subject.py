"""The change whose effect is asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deploy:
    """A change of the service, as a mark in time.

    Args:
        id: stable across restarts, for example ``grafana-42``.
        at: when it happened, Unix seconds.
        source: where the mark was found, for a person to read.
        link: address of the mark, or empty.
    """

    id: str
    at: float
    service: str = ""
    environment: str = ""
    version: str = ""
    source: str = ""
    link: str = ""
