"""Writes the dashboards into this folder: ``python -m dashboards.generate``.

Grafana's classic JSON, schema version 41, for Grafana 10.4 and newer. The data source
is a variable, so that the file can be imported and provisioned.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluator.model import Settings

from .panels import marks, series, stat, table, values

FOLDER = Path(__file__).parent
CHOSEN = 'service=~"$service",deploy=~"$deploy"'
QUERY = "server, datname, user, queryid, toplevel"


def deploys() -> dict[str, Any]:
    """Regressions by deploy."""
    panels = [
        stat(
            "Deploys judged",
            "Deploys whose verdicts the evaluator still shows.",
            f"count(pgverdict_deploy_info{{{CHOSEN}}}) or vector(0)",
            "short",
            0,
        ),
        stat(
            "Slower queries",
            "Queries that got slower at a deploy, including those that may have an "
            "external cause and do not alert.",
            f"sum(pgverdict_query_regressed{{{CHOSEN}}}) or vector(0)",
            "short",
            1,
            red_from=1,
        ),
        stat(
            "Cost",
            "Extra execution time per second of all detected regressions together; 1 s "
            "is a whole processor core.",
            f"sum(pgverdict_query_extra_seconds_per_second{{{CHOSEN}}}) or vector(0)",
            "s",
            2,
        ),
        stat(
            "Not judged",
            "Largest share of the execution time after one of these deploys that could "
            "not be judged. Red: the verdict is undecided, neither good nor bad.",
            f"max(pgverdict_deploy_unjudged_time_ratio{{{CHOSEN}}})",
            "percentunit",
            3,
            red_from=Settings().max_unjudged,
        ),
        stat(
            "Last round",
            "Time since the evaluator finished a round. When this grows, deploys are "
            "not being judged.",
            'time() - max(pgverdict_last_success_timestamp_seconds{step="round"})',
            "s",
            4,
            red_from=600,
        ),
        _slower_queries(),
        series(
            "Time per call of the slower queries",
            "Mean execution time per call, from the exporter's counters. The "
            "annotations are deploys and verdicts.",
            _mean_of_regressed(),
            "{{user}}@{{datname}} {{queryid}}",
            "s",
            top=12,
        ),
        series(
            "Queries by outcome",
            "Of the selected deploys. Queries with insufficient data were not judged.",
            f"sum by (outcome) (pgverdict_deploy_queries{{{CHOSEN}}})",
            "{{outcome}}",
            "short",
            top=21,
        ),
    ]
    return {
        "uid": "pgverdict-deploys",
        "title": "pgverdict: deploys",
        "description": "Which queries a deploy made slower, by how much, at what cost.",
        "tags": ["pgverdict", "postgresql"],
        "schemaVersion": 41,
        "version": 1,
        "editable": False,
        "timezone": "utc",
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "1m",
        "graphTooltip": 1,
        "templating": {"list": _variables()},
        "annotations": {
            "list": [
                marks("Deploys", ["deploy"], "blue"),
                marks("Verdicts", ["pgverdict"], "orange"),
            ]
        },
        "panels": [{"id": n, **panel} for n, panel in enumerate(panels, start=1)],
    }


def _variables() -> list[dict[str, Any]]:
    source = {
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
        "current": {},
    }
    service = "label_values(pgverdict_deploy_info, service)"
    deploy = 'label_values(pgverdict_deploy_info{service=~"$service"}, deploy)'
    return [
        source,
        values("service", "Service", service),
        values("deploy", "Deploy", deploy),
    ]


def _slower_queries() -> dict[str, Any]:
    """One row for each slower query, the costliest first."""

    def column(metric: str, window: str = "", more: str = "") -> str:
        of = f'{CHOSEN},window="{window}"' if window else CHOSEN
        by = f"service, deploy, {QUERY}{more}"
        return f"sum by ({by}) (pgverdict_query_{metric}{{{of}}})"

    return table(
        "Slower queries",
        "Every query that got slower at a selected deploy. Rows with external_cause "
        "true do not alert: the verdict annotation names the other cause. With the "
        "engine classic, p only ranks and is not the probability of anything.",
        {
            # Only for its label, which the other metrics do not have.
            "detected": (column("regressed", more=", external_cause"), "none"),
            "factor": (column("factor"), "none"),
            "before": (column("mean_seconds", "before"), "s"),
            "after": (column("mean_seconds", "after"), "s"),
            "cost per second": (column("extra_seconds_per_second"), "s"),
            "p": (column("p_value"), "sci"),
        },
        top=4,
        height=8,
        sort="cost per second",
        hidden=["detected"],
    )


def _mean_of_regressed() -> str:
    """Mean time per call; the exporter's ``instance`` is the evaluator's ``server``."""

    def rate(counter: str) -> str:
        labels = QUERY.replace("server", "instance")
        metric = f"pg_stat_statements_{counter}_total[$__rate_interval]"
        return f"sum by ({labels}) (rate({metric}))"

    regressed = f"pgverdict_query_regressed{{{CHOSEN}}}"
    return (
        f"{rate('seconds')} / ({rate('calls')} > 0)"
        f" and on ({QUERY.replace('server', 'instance')})"
        f' label_replace({regressed}, "instance", "$1", "server", "(.*)")'
    )


def as_text(dashboard: Mapping[str, Any]) -> str:
    """The content of the file."""
    return json.dumps(dashboard, indent=2) + "\n"


DASHBOARDS = {"deploys.json": deploys}


def main() -> None:
    """Write every file."""
    for name, make in DASHBOARDS.items():
        (FOLDER / name).write_text(as_text(make()), encoding="utf-8")


if __name__ == "__main__":
    main()
