"""The port by which the service learns of deploys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..model import Deploy


@dataclass(frozen=True, slots=True)
class Mark:
    """A deploy as one trigger announced it.

    Args:
        notes: a sentence each on what a person should know about the reading, such as a
            missing service.
    """

    deploy: Deploy
    notes: tuple[str, ...] = ()


class Trigger(Protocol):
    """A place where deploys are announced; read again in every round."""

    @property
    def name(self) -> str:
        """One word for logs and ``check``, such as ``grafana``."""
        ...

    def marks(self, start: float, end: float) -> Sequence[Mark]:
        """Everything announced between two moments.

        Args:
            start, end: Unix seconds, both above 0.

        Returns:
            Oldest first; the same mark has the same id whenever it is read.

        Raises:
            SourceError: the answer could not be had, or is not complete.
        """
        ...
