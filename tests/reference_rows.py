"""What the parts of the slow twin share: rows of a query, and where the deploy is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from scipy import special

Query: TypeAlias = Sequence[tuple[float, float] | None]
Row: TypeAlias = list[float | None]


@dataclass
class Deployed:
    """Intervals ``[:before]`` lie before the deploy, *window* of them searched."""

    before: int
    window: int
    total: int

    @property
    def after(self) -> range:
        return range(self.before, self.total)

    @property
    def settled(self) -> int:
        """First interval beyond the tolerance, a fifth of the window."""
        return self.before + math.ceil(self.window / 5)

    @property
    def long(self) -> bool:
        return self.before >= 3 * self.window

    @property
    def baseline(self) -> int:
        return min(4 * self.window, self.before // 2) if self.long else self.before


def known(row: Row, places: Sequence[int] | range) -> list[float]:
    return [value for i in places if (value := row[i]) is not None]


def mad(values: Sequence[float]) -> float:
    return median(map(abs, values)) / float(special.ndtri(0.75))
