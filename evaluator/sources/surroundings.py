"""What else Prometheus knows of a deploy: plans, fingerprints, starts, context."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ..errors import SourceError
from ..model import ContextSeries, QueryKey, Surroundings
from ..transport.client import Client
from .api import PrometheusApi, label_name
from .asking.pieces import Span
from .asking.questions import whole_grid, whole_list, whole_samples
from .matrix import RawSeries
from .profiles import Profile
from .series.batches import Period
from .sightings import fingerprints_of, measure, plans_of, starts_of, texts_of

T = TypeVar("T")

# A step of the grid is at least this part of what is looked at, and at most that: fewer
# values cannot be split.
_FINEST, _COARSEST = 1 / 500, 1 / 60
# More series of one expression for one server are not a measure of the server.
_MOST = 20
# After so many failures the rest is not asked for: each may take a minute.
_PATIENCE = 3


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was found besides the counters.

    Args:
        surroundings: without other deploys, of which these series know nothing.
        fingerprints: of the queries whose statement is known.
        texts: of the statements, as far as they are known.
        notes: a sentence each on what could not be found out.
    """

    surroundings: Surroundings = field(default_factory=Surroundings)
    fingerprints: Mapping[QueryKey, str] = field(default_factory=dict)
    texts: Mapping[QueryKey, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def called(self, renamed: Mapping[str, str]) -> Found:
        """The same with the newest name of each server.

        Args:
            renamed: older name → newest.
        """
        if not renamed:
            return self

        def new(key: QueryKey) -> QueryKey:
            return replace(key, instance=renamed.get(key.instance, key.instance))

        def measures(several: Iterable[ContextSeries]) -> tuple[ContextSeries, ...]:
            return tuple(
                replace(one, instance=renamed.get(one.instance, one.instance))
                for one in several
            )

        known = self.surroundings
        return replace(
            self,
            surroundings=replace(
                known,
                context=measures(known.context),
                starts=measures(known.starts),
                plans=tuple(replace(one, key=new(one.key)) for one in known.plans),
            ),
            fingerprints={new(key): one for key, one in self.fingerprints.items()},
            texts={new(key): one for key, one in self.texts.items()},
        )


class SurroundingsSource:
    """Reads what may explain a verdict. What fails is noted and loses no verdict.

    Args:
        selector: label matchers that choose the exporter's series, as in PromQL.
        context: name → PromQL of measures that may show an external cause.
    """

    def __init__(
        self,
        client: Client,
        profile: Profile,
        selector: str = "",
        context: Mapping[str, str] = {},
    ) -> None:
        self._api = PrometheusApi(client, selector)
        self._profile = profile
        self._context = context

    def read(
        self,
        start: float,
        end: float,
        *,
        instances: Collection[str] = (),
        step: float = 30.0,
    ) -> Found:
        """What is known between the two times, Unix seconds.

        Args:
            instances: the judged servers. A measure belongs to those with its own label
                ``instance``, or with the same host at another port; without the label
                to all. Empty: to the label's.
            step: how often measures are evaluated, seconds; more often where little
                is looked at.
        """
        asking = _Asking()
        names = self._profile
        period = Period(start, end)
        raw = [
            period.within(series)
            for name, what in (
                (names.plan_info, "the plans"),
                (names.started, "the starts of the server"),
            )
            if name
            for series in asking.of(what, self._samples(name, Span(start, end)))
        ]
        labels: list[dict[str, str]] = []
        if names.query_info:
            labels = asking.of(
                "the fingerprints",
                lambda: whole_list(
                    self._api, names.query_info, Span(start, end), names.queryid
                ),
            )
        step = max(min(step, (end - start) * _COARSEST), (end - start) * _FINEST)
        context = [
            one
            for name, expression in self._context.items()
            for one in self._measures(
                name, expression, asking, Span(start, end, step), instances
            )
        ]
        return Found(
            Surroundings(
                context=tuple(context),
                starts=starts_of(raw, names),
                plans=plans_of(raw, names),
            ),
            fingerprints_of(labels, names),
            texts_of(labels, names),
            tuple(asking.notes),
        )

    def _samples(
        self, name: str, span: Span
    ) -> Callable[[], tuple[list[RawSeries], tuple[str, ...]]]:
        return lambda: whole_samples(self._api, [name], span)

    def _measures(
        self,
        name: str,
        expression: str,
        asking: _Asking,
        grid: Span,
        instances: Collection[str],
    ) -> Iterable[ContextSeries]:
        what, failed = f"context {name!r}", asking.failures
        series = asking.of(what, lambda: whole_grid(self._api, expression, grid))
        if asking.failures > failed or asking.gave_up:
            return
        own = self._profile.server_labels
        label = ", ".join(map(label_name, own))
        found = [
            measure(_named(name, one.labels, own), instance, one)
            for one in series
            for instance in _servers(one.labels, instances, self._profile)
        ]
        if not found:
            asking.notes.append(
                f"{what}: no value for {', '.join(sorted(instances)) or 'any server'}; "
                f"its series need the label {label} of the exporter, or none"
            )
        elif len(found) > _MOST * max(1, len(instances)):
            asking.notes.append(
                f"{what}: {len(found)} series are too many to tell a cause; aggregate "
                f"them, for example by sum by ({label}) (…)"
            )
        else:
            yield from found


class _Asking:
    """Asks, and notes what goes wrong instead of failing."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.failures = 0

    @property
    def gave_up(self) -> bool:
        return self.failures >= _PATIENCE

    def of(
        self,
        what: str,
        question: Callable[[], tuple[list[T], tuple[str, ...]]],
    ) -> list[T]:
        if self.gave_up:
            self.notes.append(f"{what}: not asked for after {_PATIENCE} failures")
            return []
        try:
            answer, warnings = question()
        except SourceError as error:
            self.failures += 1
            self.notes.append(f"{what}: not known: {error}")
            return []
        self.notes += [f"{what}: {warning}" for warning in warnings]
        return answer


def _servers(
    labels: Mapping[str, str], instances: Collection[str], profile: Profile
) -> Collection[str]:
    """The servers that a measure with *labels* is about; an empty name is all.

    Where several labels name a server, one that the measure has not says nothing.
    """
    values = [labels.get(label, "") for label in profile.server_labels]
    if not any(values):
        return [""]
    whole = profile.server(labels)
    if not instances or whole in instances:
        return [whole]

    def same(server: str, part: Callable[[str], str]) -> bool:
        known = zip(values, profile.server_values(server), strict=True)
        return all(not own or part(own) == part(its) for own, its in known)

    exactly = sorted(one for one in instances if same(one, str))
    return exactly or sorted(one for one in instances if same(one, _host))


def _host(instance: str) -> str:
    return instance.rsplit(":", 1)[0]


def _named(name: str, labels: Mapping[str, str], server: Collection[str]) -> str:
    """*name* and what else tells the series from its siblings."""
    more = [
        f"{label}={value}"
        for label, value in sorted(labels.items())
        if label not in ("__name__", "job", *server)
    ]
    return f"{name} ({', '.join(more)})" if more else name
