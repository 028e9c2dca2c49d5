"""Raw series → plans, fingerprints and starts that were seen (pure)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import groupby

import numpy as np

from ..model import ContextSeries, PlanSeen, QueryKey
from .matrix import RawSeries
from .profiles import Profile


def plans_of(raw: Iterable[RawSeries], profile: Profile) -> tuple[PlanSeen, ...]:
    """Which plan of which query was in force from when to when.

    A plan that comes back after another one is reported twice.

    Args:
        raw: other metrics than the profile's plans are left out.
    """
    seen: dict[QueryKey, list[tuple[float, str, str]]] = defaultdict(list)
    for series in raw:
        if not series.name or series.name != profile.plan_info:
            continue
        plan_id = series.labels.get(profile.plan_id, "")
        outline = series.labels.get(profile.plan, "") or plan_id
        seen[profile.key(series.labels)] += [
            (float(at), plan_id, outline) for at in series.times
        ]
    found = []
    for key in sorted(seen):
        for (plan_id, outline), run in groupby(
            sorted(seen[key]), key=lambda sighting: sighting[1:]
        ):
            times = [at for at, _, _ in run]
            found.append(PlanSeen(key, plan_id, outline, times[0], times[-1]))
    return tuple(found)


def fingerprints_of(
    labels: Iterable[Mapping[str, str]], profile: Profile
) -> dict[QueryKey, str]:
    """Fingerprint of each query; a query that has had two has none.

    Args:
        labels: of any series; other metrics than the profile's are left out.
    """
    found: dict[QueryKey, set[str]] = defaultdict(set)
    for one in labels:
        name, fingerprint = one.get("__name__", ""), one.get(profile.fingerprint, "")
        if name and name == profile.query_info and fingerprint:
            found[profile.key(one)].add(fingerprint)
    return {key: next(iter(of)) for key, of in found.items() if len(of) == 1}


def texts_of(
    labels: Iterable[Mapping[str, str]], profile: Profile
) -> dict[QueryKey, str]:
    """Text of each statement as far as it is shown; of several the longest.

    Args:
        labels: of any series; other metrics than the profile's are left out.
    """
    found: dict[QueryKey, str] = {}
    for one in labels:
        name, text = one.get("__name__", ""), one.get(profile.query, "")
        if name and name == profile.query_info and text:
            key = profile.key(one)
            found[key] = max(found.get(key, ""), text, key=lambda own: (len(own), own))
    return found


def starts_of(raw: Iterable[RawSeries], profile: Profile) -> tuple[ContextSeries, ...]:
    """When each server started, at every scrape.

    Args:
        raw: other metrics than the profile's are left out.
    """
    return tuple(
        measure("server start", profile.server(series.labels), series)
        for series in raw
        if series.name and series.name == profile.started
    )


def measure(name: str, instance: str, series: RawSeries) -> ContextSeries:
    """The finite values of *series* as a measure."""
    good = np.isfinite(series.values)
    return ContextSeries(name, instance, series.times[good], series.values[good])
