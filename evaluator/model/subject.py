"""What a report is about: a deploy, or a drift that no deploy announced."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from .batch import QueryKey


class DeployKind(StrEnum):
    """What was rolled out; of a failed rollout nothing is running."""

    DEPLOY = "deploy"
    ROLLBACK = "rollback"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Deploy:
    """A change of a service.

    Args:
        id: stable across restarts, for example ``grafana-42``.
        at: when it began, Unix seconds.
        source: where it was announced, for a person to read.
        link: address of the pipeline or of the change, or empty.
        end: when it was complete, Unix seconds; left out: at once.
        marks: ids of all annotations and calls that announced it.

    Raises:
        ValueError: it ends before it begins.
    """

    id: str
    at: float
    service: str = ""
    environment: str = ""
    version: str = ""
    source: str = ""
    link: str = ""
    end: float = math.nan
    kind: DeployKind = DeployKind.DEPLOY
    marks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if math.isnan(self.end):
            object.__setattr__(self, "end", self.at)
        if self.end < self.at:
            raise ValueError(f"deploy {self.id} ends before it begins")


@dataclass(frozen=True, slots=True)
class Drift:
    """A lasting shift without a deploy, of one query or of a whole server.

    Args:
        id: stable across restarts.
        server: label value of the database server.
        last_clean: up to here all was surely well, Unix seconds.
        first_shifted: the most likely beginning of the new level, Unix seconds.
        key: the query; None where the server as a whole shifted.
        service, environment: whose databases these are, where that is configured.

    Raises:
        ValueError: it shifted before it was last clean, or the query is another
            server's.
    """

    id: str
    server: str
    last_clean: float
    first_shifted: float
    key: QueryKey | None = None
    service: str = ""
    environment: str = ""

    def __post_init__(self) -> None:
        if self.first_shifted < self.last_clean:
            raise ValueError(f"drift {self.id} shifted before it was last clean")
        if self.key is not None and self.key.instance != self.server:
            raise ValueError(f"drift {self.id} is of a query of another server")

    @property
    def at(self) -> float:
        """The moment that divides before from after, Unix seconds."""
        return self.first_shifted


Subject: TypeAlias = Deploy | Drift
