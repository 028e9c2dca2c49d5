"""What is scraped and stored is what was run: each statement, each call."""

from __future__ import annotations

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from lab.process import PATIENCE

from .conftest import Quiet, stored
from .known import DATABASES, USERS, Known, Statement

pytestmark = pytest.mark.servers


def last_values(quiet: Quiet, backend: str, metric: str) -> dict[Statement, float]:
    """The newest value of each statement."""
    series = stored(quiet.backends[backend], metric)
    values = {
        Statement(
            *(labels[name] for name in ("user", "datname", "queryid", "toplevel"))
        ): found[-1]
        for labels, found in series
    }
    assert len(values) == len(series), "two series are about the same statement"
    return values


def test_the_stored_number_of_calls_is_the_number_that_were_made(quiet, backend):
    values = last_values(quiet, backend, "pg_stat_statements_calls_total")

    counted = {
        Known(s.user, s.database, quiet.rows[s].text, s.toplevel): calls
        for s, calls in values.items()
        if s.database in DATABASES and s.user in USERS
    }
    assert counted == quiet.calls


def test_every_row_is_stored_and_nothing_besides(quiet, backend):
    calls = last_values(quiet, backend, "pg_stat_statements_calls_total")
    seconds = last_values(quiet, backend, "pg_stat_statements_seconds_total")

    # The exporter itself works in the database postgres and is counted there.
    at_rest = {s: row for s, row in quiet.rows.items() if s.database != "postgres"}
    assert len(at_rest) > 30
    assert {s: value for s, value in calls.items() if s.database != "postgres"} == {
        s: row.calls for s, row in at_rest.items()
    }
    # VictoriaMetrics keeps about 12 decimal digits of a value.
    exact = pytest.approx({s: row.seconds for s, row in at_rest.items()}, rel=1e-11)
    assert {
        s: value for s, value in seconds.items() if s.database != "postgres"
    } == exact
    assert quiet.rows.keys() <= calls.keys()


def test_a_statement_run_by_itself_and_inside_another_are_two(quiet):
    nested = [s for s in quiet.rows if s.toplevel == "false" and s.user in USERS]

    assert len(nested) == len(USERS) * len(DATABASES)
    assert all(s._replace(toplevel="true") in quiet.rows for s in nested)


def test_no_label_set_is_shown_twice(quiet):
    text = requests.get(f"{quiet.exporter}/metrics", timeout=PATIENCE).text

    shown = [
        (sample.name, frozenset(sample.labels.items()))
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]
    assert len(shown) > 100
    assert len(set(shown)) == len(shown)
