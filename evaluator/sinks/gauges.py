"""Verdicts and the evaluator's own health as Prometheus metrics; the names are here.

Verdict series live as long as the report is retained and then disappear, so that an
alert on them resolves by itself. Only deploys are shown. Label ``server`` is the
database's ``instance``: a label ``instance`` would collide with the evaluator's own at
the scrape.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from ..model import DecisionKind, Deploy, Outcome, Report, Verdict
from .links import RELATIVE, Links

STEPS = ("discover", "judge", "publish", "round")

_DEPLOY = ("service", "environment", "deploy")
_QUERY = ("server", "datname", "user", "queryid", "toplevel", *_DEPLOY)


class Gauges:
    """The metrics of the evaluator.

    Args:
        registry: where the metrics are registered.
        max_queries: at most this many queries of one deploy have series, the costliest
            first, so that one bad deploy cannot flood Prometheus. All are counted in
            ``pgverdict_deploy_queries``.
        links: where the annotations of the alerts lead.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        *,
        max_queries: int = 200,
        links: Links = RELATIVE,
    ) -> None:
        self._verdicts = _Verdicts(max_queries)
        registry.register(self._verdicts)
        build = Gauge(
            "pgverdict_build_info",
            "1, labelled with the versions of pgverdict and Python.",
            ["version", "python"],
            registry=registry,
        )
        build.labels(version("pgverdict"), platform.python_version()).set(1)
        linked = Gauge(
            "pgverdict_links_info",
            "1, labelled with the addresses that the alerts link to.",
            ["grafana", "runbooks"],
            registry=registry,
        )
        linked.labels(links.grafana, links.runbooks).set(1)
        self._pending = Gauge(
            "pgverdict_deploys_pending",
            "Deploys that are not judged yet.",
            registry=registry,
        )
        self._success = Gauge(
            "pgverdict_last_success_timestamp_seconds",
            "When the step last succeeded, in Unix seconds; 0 before the first time. A "
            "round succeeds when it is completed, even if its steps had errors.",
            ["step"],
            registry=registry,
        )
        self._errors = Counter(
            "pgverdict_errors_total",
            "Errors by the step in which they happened.",
            ["step"],
            registry=registry,
        )
        self._duration = Histogram(
            "pgverdict_step_duration_seconds",
            "How long a step took.",
            ["step"],
            registry=registry,
            buckets=(0.01, 0.1, 0.5, 1, 5, 15, 60, 300),
        )
        for step in STEPS:
            # A step that never succeeded must be shown, not missing.
            self._errors.labels(step)
            self._success.labels(step).set(0)

    def show(self, reports: Sequence[Report], *, pending: int) -> None:
        """Replace what is shown, at once."""
        self._verdicts.reports = tuple(reports)
        self._pending.set(pending)

    def failed(self, step: str) -> None:
        self._errors.labels(step).inc()

    def succeeded(self, step: str, now: float) -> None:
        self._success.labels(step).set(now)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self._duration.labels(step).observe(time.perf_counter() - started)


class _Verdicts(Collector):
    """Families made anew from the reports at every scrape; nothing to expire."""

    def __init__(self, max_queries: int) -> None:
        self.reports: tuple[Report, ...] = ()
        self._max_queries = max_queries

    def describe(self) -> list[GaugeMetricFamily]:
        return []

    def collect(self) -> Iterable[GaugeMetricFamily]:
        judged = [
            (report.subject, report)
            for report in self.reports
            if isinstance(report.subject, Deploy)
        ]
        yield from _deploy_families(judged)
        yield from _query_families(
            [
                (deploy, verdict)
                for deploy, report in judged
                for verdict in report.detected[: self._max_queries]
            ]
        )


def _deploy_families(
    reports: Sequence[tuple[Deploy, Report]],
) -> Iterator[GaugeMetricFamily]:
    info = GaugeMetricFamily(
        "pgverdict_deploy_info",
        "1, labelled with the version and source of a judged deploy.",
        labels=[*_DEPLOY, "version", "source"],
    )
    at = GaugeMetricFamily(
        "pgverdict_deploy_timestamp_seconds",
        "When the deploy happened, in Unix seconds.",
        labels=list(_DEPLOY),
    )
    judged = GaugeMetricFamily(
        "pgverdict_deploy_judged_timestamp_seconds",
        "When the deploy was judged, in Unix seconds.",
        labels=list(_DEPLOY),
    )
    failed = GaugeMetricFamily(
        "pgverdict_deploy_failed",
        "1 when the deploy could not be judged at all, else 0.",
        labels=list(_DEPLOY),
    )
    decision = GaugeMetricFamily(
        "pgverdict_deploy_decision",
        "1, labelled with what the report comes to (regressed, clear, undecided or "
        "failed) and why.",
        labels=[*_DEPLOY, "decision", "reason"],
    )
    unjudged = GaugeMetricFamily(
        "pgverdict_deploy_unjudged_time_ratio",
        "Share of the execution time after the deploy that the queries that could not "
        "be judged took.",
        labels=list(_DEPLOY),
    )
    queries = GaugeMetricFamily(
        "pgverdict_deploy_queries",
        "Queries of a judged deploy by outcome.",
        labels=[*_DEPLOY, "outcome"],
    )
    for deploy, report in reports:
        labels = _deploy_labels(deploy)
        info.add_metric([*labels, deploy.version, deploy.source], 1)
        at.add_metric(labels, deploy.at)
        judged.add_metric(labels, report.judged_at)
        failed.add_metric(labels, report.decision.kind is DecisionKind.FAILED)
        kind, reason = report.decision.kind, report.decision.reason
        decision.add_metric([*labels, kind, reason], 1)
        unjudged.add_metric(labels, report.unjudged_time)
        for outcome in Outcome:
            queries.add_metric([*labels, outcome], report.count(outcome))
    yield from (info, at, judged, failed, decision, unjudged, queries)


def _query_families(
    detected: Sequence[tuple[Deploy, Verdict]],
) -> Iterator[GaugeMetricFamily]:
    regressed = _query_family(
        "regressed",
        "1 for a query that got slower at the deploy; external_cause is true when "
        "something besides the deploy may explain it.",
        "external_cause",
    )
    factor = _query_family("factor", "Mean time per call after / before the deploy.")
    means = _query_family("mean_seconds", "Mean time per call in the window.", "window")
    p_value = _query_family(
        "p_value",
        "Chance that the whole rule finds as much without any change (engine "
        "calibrated), or p of Welch's test with the searched split taken as given "
        "(engine classic).",
    )
    q_value = _query_family(
        "q_value",
        "False discovery rate at which the finding is kept, over all queries of the "
        "deploy (engine calibrated).",
    )
    change = _query_family(
        "change_timestamp_seconds",
        "When the query became slower according to its own series, in Unix seconds.",
    )
    cost = _query_family(
        "extra_seconds_per_second",
        "Extra seconds of execution time per second: rise of the mean times calls per "
        "second after.",
    )
    for deploy, verdict in detected:
        if verdict.effect is None or verdict.change is None:
            continue
        labels = _query_labels(deploy, verdict)
        regressed.add_metric([*labels, str(verdict.external_cause).lower()], 1)
        factor.add_metric(labels, verdict.effect.factor)
        means.add_metric([*labels, "before"], verdict.effect.before)
        means.add_metric([*labels, "after"], verdict.effect.after)
        if verdict.p_value is not None:
            p_value.add_metric(labels, verdict.p_value)
        if verdict.significance is not None:
            q_value.add_metric(labels, verdict.significance.q_value)
        change.add_metric(labels, verdict.change.at)
        cost.add_metric(labels, verdict.effect.extra_seconds_per_second)
    yield from (regressed, factor, means, p_value, q_value, change, cost)


def _query_family(name: str, text: str, *more: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"pgverdict_query_{name}", text, labels=[*_QUERY, *more])


def _deploy_labels(deploy: Deploy) -> list[str]:
    return [deploy.service, deploy.environment, deploy.id]


def _query_labels(deploy: Deploy, verdict: Verdict) -> list[str]:
    key = verdict.key
    query = [key.instance, key.database, key.user, key.queryid, key.toplevel]
    return query + _deploy_labels(deploy)
