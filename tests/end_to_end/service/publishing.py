"""What a running evaluator shows, alerts on and annotates once all is judged."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from lab.grafana import Grafana
from lab.process import wait_until
from lab.programs import Evaluator
from lab.prometheus import Prometheus

ALERT = "PgverdictQueryRegressed"


@dataclass(frozen=True, slots=True)
class Published:
    """What people and rules see of the verdicts.

    Args:
        regressed: labels of what is shown as regressed.
        alerts: what Prometheus has made of it, with labels and annotations.
        annotated: text of the verdict annotation by service.
        grafana: address of the Grafana that holds these.
    """

    regressed: tuple[dict[str, str], ...]
    alerts: tuple[dict[str, Any], ...]
    annotated: Mapping[str, str]
    grafana: str


def everything_published(
    services: Collection[str],
    evaluator: Evaluator,
    prometheus: Prometheus,
    grafana: Grafana,
) -> Published:
    """Wait until one deploy of each service is judged, and its alerts fire."""

    def shown(expression: str) -> tuple[dict[str, str], ...]:
        return tuple(series["metric"] for series in prometheus.query(expression))

    def all_is_judged() -> bool:
        judged = shown("pgverdict_deploy_judged_timestamp_seconds")
        return len(judged) == len(services)

    try:
        wait_until(all_is_judged, what="all deploys judged")
    except TimeoutError as error:
        raise AssertionError(f"{error}\n{evaluator.process.tail()}") from error
    # Twice more: the first may have begun before the last verdict was stored.
    evaluations = {_last_evaluation(prometheus)}

    def evaluated_twice_more() -> bool:
        evaluations.add(_last_evaluation(prometheus))
        return len(evaluations) > 2

    wait_until(evaluated_twice_more, what="rules evaluated")
    return Published(
        shown("pgverdict_query_regressed == 1"),
        tuple(
            alert
            for alert in prometheus.get("/api/v1/alerts")["data"]["alerts"]
            if alert["labels"]["alertname"] == ALERT and alert["state"] == "firing"
        ),
        {
            service: one["text"]
            for service in services
            for one in grafana.annotations
            if f"pgverdict-service:{service}" in one["tags"]
        },
        grafana.url,
    )


def _last_evaluation(prometheus: Prometheus) -> str:
    (group,) = prometheus.get("/api/v1/rules")["data"]["groups"]
    return str(group["lastEvaluation"])
