"""docs/metrics.md has every metric of the evaluator, in the words of its help text.

``python -m tests.docs.test_metrics`` writes the table anew.
"""

from __future__ import annotations

import numpy as np
from prometheus_client import CollectorRegistry

from evaluator.model import Report, Settings
from evaluator.sinks.gauges import Gauges
from tests.builders import DEPLOY_AT, counters, deploy, judged, noise

from .pages import METRICS

BEGIN, END = "<!-- metrics: begin -->\n", "<!-- metrics: end -->\n"


def report() -> Report:
    """One query that got slower."""
    step = np.where(np.arange(60) < 30, 1.0, 1.5)
    series = counters(0.01 * noise(np.random.default_rng(3)) * step, calls=40)
    settings = Settings(engine="calibrated")
    verdicts = judged([series], deploy(), settings)
    return Report(deploy(), DEPLOY_AT + 1900, settings, verdicts)


def table() -> str:
    """A row for each metric, with its labels, by name."""
    registry = CollectorRegistry()
    gauges = Gauges(registry)
    gauges.show([report()], pending=0)
    with gauges.timed("judge"):
        pass
    rows = []
    for family in registry.collect():
        labels = dict.fromkeys(
            label for sample in family.samples for label in sample.labels
        )
        labels.pop("le", None)
        name = family.name + "_total" * (family.type == "counter")
        braces = f"{{{','.join(labels)}}}" if labels else ""
        rows.append(f"| `{name}{braces}` | {family.documentation} |\n")
    return "| metric | what it is |\n|---|---|\n" + "".join(sorted(rows))


def test_every_metric_is_on_the_page_in_the_words_of_its_help():
    page = METRICS.read_text("utf-8")

    assert page.partition(BEGIN)[2].partition(END)[0] == table()


def test_every_metric_of_a_verdict_is_shown_by_the_report():
    assert table().count("\n| `pgverdict_query_") == 7
    assert table().count("\n| `pgverdict_deploy_") == 7


if __name__ == "__main__":
    before, _, rest = METRICS.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    METRICS.write_text(before + BEGIN + table() + END + after, "utf-8")
