"""The effects of deploys besides slower queries, as metric families; names are here.

Only what is notable has series of its own, so that a deploy cannot flood Prometheus.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prometheus_client.core import GaugeMetricFamily

from ...model import Deploy, QueryKey, Report

DEPLOY_LABELS = ("service", "environment", "deploy")
QUERY_LABELS = ("server", "datname", "user", "queryid", "toplevel", *DEPLOY_LABELS)


def deploy_labels(deploy: Deploy) -> list[str]:
    """Values of DEPLOY_LABELS."""
    return [deploy.service, deploy.environment, deploy.id]


def query_labels(deploy: Deploy, key: QueryKey) -> list[str]:
    """Values of QUERY_LABELS."""
    query = [key.instance, key.database, key.user, key.queryid, key.toplevel]
    return query + deploy_labels(deploy)


def effect_families(
    reports: Sequence[tuple[Deploy, Report]], *, max_queries: int
) -> Iterator[GaugeMetricFamily]:
    """Load of each server, call floods, new statements and improvements.

    Args:
        max_queries: at most so many of each kind of one deploy, the costliest first.
    """
    yield from _loads(reports)
    yield from _slowed(reports)
    often = _of_queries(
        "pgverdict_query_calls_factor",
        "Calls per second after / before the deploy, without the common traffic, of a "
        "query that is called more often and whose further calls take a notable share.",
    )
    often_share = _of_queries(
        "pgverdict_query_calls_time_ratio",
        "Share of the server's execution time since the deploy that these further "
        "calls take, 0 to 1.",
    )
    new = _of_queries(
        "pgverdict_new_statement_time_ratio",
        "Share of the server's execution time since the deploy that a new statement "
        "takes, 0 to 1, where it is notable; replaced is the query id of the statement "
        "that it may replace.",
        "replaced",
    )
    faster = _of_queries(
        "pgverdict_query_improved_factor",
        "Mean time per call after / before the deploy of a query that got faster.",
    )
    saved = _of_queries(
        "pgverdict_query_saved_seconds_per_second",
        "Seconds of execution time per second that a query that got faster saves.",
    )
    for deploy, report in reports:
        effects = report.effects
        for flood in effects.notable_floods[:max_queries]:
            labels = query_labels(deploy, flood.key)
            often.add_metric(labels, flood.factor.value)
            often_share.add_metric(labels, flood.share)
        for one in effects.notable_new[:max_queries]:
            replaced = "" if one.replaced is None else one.replaced.key.queryid
            new.add_metric([*query_labels(deploy, one.key), replaced], one.share)
        for improved in effects.improvements[:max_queries]:
            labels = query_labels(deploy, improved.key)
            faster.add_metric(labels, improved.factor)
            saved.add_metric(labels, improved.saved)
    yield from (often, often_share, new, faster, saved)


def _slowed(reports: Sequence[tuple[Deploy, Report]]) -> Iterator[GaugeMetricFamily]:
    """Of each server the shared rise that costs most: one alert, not one a group."""
    labels = ["server", *DEPLOY_LABELS]
    factor = GaugeMetricFamily(
        "pgverdict_server_slowed_factor",
        "Time per call after / before the deploy of what all queries of a server, or "
        "the costliest group that moves together, share; external_cause is true when "
        "something besides the deploy may explain it.",
        labels=[*labels, "queries", "severity", "external_cause"],
    )
    cost = GaugeMetricFamily(
        "pgverdict_server_slowed_extra_seconds_per_second",
        "Extra seconds of execution time per second that this costs.",
        labels=labels,
    )
    for deploy, report in reports:
        servers = set()
        for rise in report.effects.shared:
            if rise.server in servers:
                continue
            servers.add(rise.server)
            own = [rise.server, *deploy_labels(deploy)]
            external = str(rise.external_cause).lower()
            factor.add_metric(
                [*own, str(rise.queries), rise.severity, external], rise.factor.value
            )
            cost.add_metric(own, rise.extra_seconds_per_second)
    yield from (factor, cost)


def _loads(reports: Sequence[tuple[Deploy, Report]]) -> Iterator[GaugeMetricFamily]:
    load = GaugeMetricFamily(
        "pgverdict_server_load_seconds_per_second",
        "Seconds of execution time per second of a server in the window.",
        labels=["server", *DEPLOY_LABELS, "window"],
    )
    change = GaugeMetricFamily(
        "pgverdict_server_load_change_seconds_per_second",
        "What slower calls, more calls, new and vanished statements add to the load of "
        "a server since the deploy; the parts add up to after less before.",
        labels=["server", *DEPLOY_LABELS, "part"],
    )
    for deploy, report in reports:
        for one in report.effects.loads:
            labels = [one.server, *deploy_labels(deploy)]
            load.add_metric([*labels, "before"], one.before.value)
            load.add_metric([*labels, "after"], one.after.value)
            for part in one.parts:
                change.add_metric([*labels, part.kind], part.change.value)
    yield from (load, change)


def _of_queries(name: str, text: str, *more: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=[*QUERY_LABELS, *more])
