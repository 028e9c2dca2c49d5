"""Work on many queries in blocks that stay in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, cast

import numpy as np

T = TypeVar("T")

# Values of one array that are worked on together: a quarter of a megabyte, so that a
# handful of such arrays fits a second-level cache.
_VALUES = 32_768


def blocks(s: int, t: int) -> Iterator[slice]:
    """Rows of (s, t) arrays that are worked on together; without any, one of none."""
    step = max(1, _VALUES // max(t, 1))
    for first in range(0, max(s, 1), step):
        yield slice(first, min(first + step, s))


def concatenated(parts: Sequence[T]) -> T:
    """Arrays of some queries each, or dataclasses of such, as one of all queries.

    None stays None.
    """
    first: Any = parts[0]
    if first is None or len(parts) == 1:
        return parts[0]
    if is_dataclass(first):
        columns = {
            field.name: concatenated([getattr(part, field.name) for part in parts])
            for field in fields(first)
        }
        return cast("T", cast("Any", type(first))(**columns))
    return cast("T", np.concatenate(cast("Any", parts)))
