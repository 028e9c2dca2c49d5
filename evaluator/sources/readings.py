"""Raw series → batches of counters, at the scrapes that stored both (pure)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import SourceError
from ..model import Batch, DataQuality, QueryKey
from ..model import join as join_batches
from ..units import show_time
from .matrix import RawSeries
from .profiles import Profile
from .series.batches import Period, batch_of
from .series.identities import Identity, stamped
from .series.renames import follow_renames
from .series.succession import Clash, Successions, ambiguity
from .series.twins import Origin, Origins, without_twins

# How many moments a note names.
_SHOWN = 3


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The counters of all queries, and how much of the data could be used.

    Args:
        batches: one for each server, ascending; a query at whose scrapes never both
            counters were stored is there without any sample.
        first, last: times of the oldest and the newest usable scrape, Unix seconds.
        notes: what is amiss with series that only explain; no reason to distrust.
        events: a sentence each on what happened to the servers and their exporters.
        origins: which labels the series have besides those of their queries.
        renamed: older name of a server → the one it goes by here.
        twins: a sentence for each exporter that shows the same as another.
    """

    batches: tuple[Batch, ...] = ()
    quality: DataQuality = field(default_factory=DataQuality)
    first: float | None = None
    last: float | None = None
    notes: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    origins: Origins = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    twins: tuple[str, ...] = ()

    @property
    def servers(self) -> frozenset[str]:
        """Instances that the queries belong to."""
        return frozenset(batch.server for batch in self.batches)

    @property
    def scrape_interval(self) -> float | None:
        """Median distance of two scrapes of a query, seconds; None without any."""
        steps = [
            np.diff(batch.times[kept])
            for batch in self.batches
            for kept in batch.present
            if np.count_nonzero(kept) > 1
        ]
        return float(np.median(np.concatenate(steps))) if steps else None

    @property
    def most_calls(self) -> float:
        """Calls per second of the query that is called most; 0 where unknown."""
        rates = [0.0]
        for batch in self.batches:
            for calls, kept in zip(batch.calls, batch.present, strict=True):
                if np.count_nonzero(kept) > 1:
                    times, made = batch.times[kept], np.diff(calls[kept])
                    length = float(times[-1] - times[0])
                    rates.append(float(made[made > 0].sum()) / length)
        return max(rates)


def pair(
    raw: Iterable[RawSeries],
    profile: Profile,
    start: float,
    end: float,
    where: str,
) -> Reading:
    """Put the counters of each query side by side.

    A scrape counts where both counters were stored with finite values; where only one
    was, it is counted as lone. Further columns of the profile are put beside them, NaN
    where they are unknown.

    Args:
        raw: other metrics than the profile's are left out.
        start, end: samples with start ≤ time ≤ end are used, compared in whole
            milliseconds, which is all that Prometheus keeps.

    Raises:
        SourceError: two series would be the same query.
    """
    by_server: dict[str, dict[QueryKey, dict[str, list[RawSeries]]]] = defaultdict(dict)
    period, conflicts = Period(start, end), 0
    origins: dict[tuple[str, bool], Origin] = {}
    for series in raw:
        if series.name not in profile.metrics and series.name not in profile.details:
            continue
        cut = period.within(series)
        if not cut.times.size:
            continue
        if cut.name in profile.metrics:
            conflicts += cut.conflicts
        key = profile.key(cut.labels)
        origin = origins.get(place := (key.instance, bool(key.toplevel)))
        if origin is None or origin.last < cut.times[-1]:
            origins[place] = Origin(
                _besides(cut.labels, profile),
                float(cut.times[-1]),
                tuple(
                    cut.labels.get(label, "") for label in profile.server_labels[:-1]
                ),
            )
        metrics = by_server[key.instance].setdefault(key, {})
        metrics.setdefault(cut.name, []).append(cut)
    batches, lone = [], 0
    ambiguous: dict[str, str] = {}
    successions = Successions()
    for queries in by_server.values():
        counted: dict[QueryKey, dict[str, RawSeries]] = {}
        for key, found in queries.items():
            if found.keys().isdisjoint(profile.counters):
                continue
            counted[key] = {}
            for name, several in found.items():
                one = several[0]
                if len(several) > 1:
                    joined = successions.one_of(several)
                    if isinstance(joined, Clash):
                        problem = f"{where}: {ambiguity(name, joined)}"
                        if name in profile.metrics:
                            raise SourceError(problem)
                        problem += "; until then it is not used"
                        ambiguous.setdefault(name, problem)
                        continue
                    one = joined
                counted[key][name] = one
        if counted:
            batch, alone = batch_of(counted, profile, leave_out=ambiguous)
            batches.append(batch)
            lone += alone
    quality = DataQuality(lone_samples=lone, conflicting_samples=conflicts)
    return replace(
        _reading(batches, quality, tuple(ambiguous.values())), origins=origins
    )


def _besides(labels: Mapping[str, str], profile: Profile) -> Mapping[str, str]:
    """The labels that do not name the query."""
    of_query = "__name__", profile.database, profile.user, profile.queryid
    own = {*of_query, profile.toplevel}
    return {label: value for label, value in labels.items() if label not in own}


def join(
    readings: Iterable[Reading],
    warnings: Iterable[str] = (),
    notes: Iterable[str] = (),
    identities: Mapping[str, Sequence[Identity]] = {},
) -> Reading:
    """Readings of different queries as one, with their warnings and notes and more.

    Args:
        identities: by server, what shows that another one answered.
    """
    parts = list(readings)
    warned = [*warnings, *(text for part in parts for text in part.quality.warnings)]
    noted = [*notes, *(text for part in parts for text in part.notes)]
    events = [text for part in parts for text in part.events]
    quality = DataQuality(
        lone_samples=sum(part.quality.lone_samples for part in parts),
        conflicting_samples=sum(part.quality.conflicting_samples for part in parts),
        warnings=tuple(dict.fromkeys(warned)),
    )
    batches, changes = [], sum(part.quality.server_changes for part in parts)
    for batch in join_batches(batch for part in parts for batch in part.batches):
        known, changed = stamped(batch, identities.get(batch.server, ()))
        batches.append(known)
        changes += len(changed)
        events += _answered(batch.server, changed)
    quality = replace(quality, server_changes=changes)
    origins: dict[tuple[str, bool], Origin] = {}
    for part in parts:
        for place, origin in part.origins.items():
            if place not in origins or origins[place].last < origin.last:
                origins[place] = origin
    followed = follow_renames(batches, identities)
    distinct, twins = without_twins(followed.batches, origins)
    return replace(
        _reading(distinct, quality, tuple(dict.fromkeys(noted))),
        events=tuple(dict.fromkeys([*events, *followed.notes, *twins])),
        origins=origins,
        renamed=followed.renamed,
        twins=twins,
    )


def _answered(server: str, changed: Sequence[float]) -> Iterator[str]:
    if changed:
        times = ", ".join(map(show_time, changed[:_SHOWN]))
        more = f" and {len(changed) - _SHOWN} times more" if changed[_SHOWN:] else ""
        yield (
            f"{server or 'the server'}: another server answered, or it was restarted, "
            f"at {times}{more}; no interval across that is used"
        )


def _reading(
    batches: Sequence[Batch], quality: DataQuality, notes: tuple[str, ...]
) -> Reading:
    joined = join_batches(batches)
    series, scrapes = 0, []
    for batch in joined:
        present = batch.present
        series += int(np.count_nonzero(present.any(axis=1)))
        scrapes.append(batch.times[present.any(axis=0)])
    stored = np.concatenate(scrapes) if scrapes else np.empty(0)
    return Reading(
        joined,
        replace(quality, series=series),
        float(stored.min()) if stored.size else None,
        float(stored.max()) if stored.size else None,
        notes,
    )
