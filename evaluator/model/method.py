"""What a reader of verdicts has to know of the method that made them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Method:
    """One way to judge, by name; what it needs, and what its numbers mean.

    Args:
        summary: half a sentence for ``--help``.
        statistic_in_seconds: whether the energy statistic is in seconds per call; else
            it is in standard deviations of the noise.
        learns_from_history: whether it reads the hours before the window.
        corrects_for_queries: whether its p-values are those of the whole rule, with
            q-values over the queries of the deploy; else each query is judged alone, by
            the nominal p of Welch's test.
        looks: shares of the window after the deploy at which it may judge, ascending;
            the last is the whole window.
    """

    name: str
    summary: str
    statistic_in_seconds: bool
    learns_from_history: bool
    corrects_for_queries: bool
    looks: tuple[float, ...] = (1.0,)


CALIBRATED = Method(
    name="calibrated",
    summary="learns the noise from the hours before, and corrects for many queries",
    statistic_in_seconds=False,
    learns_from_history=True,
    corrects_for_queries=True,
    looks=(1 / 3, 1 / 2, 2 / 3, 5 / 6, 1.0),
)
CLASSIC = Method(
    name="classic",
    summary="each query alone, by its two windows and Welch's test",
    statistic_in_seconds=True,
    learns_from_history=False,
    corrects_for_queries=False,
)
# By name; the first is the default.
METHODS = {method.name: method for method in (CALIBRATED, CLASSIC)}
