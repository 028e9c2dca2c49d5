"""What is stored is what was run: each statement, each call."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from ..recording import page, stored
from .known import DATABASES, USERS, Known, Statement
from .world import Recording

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]


def last_values(recording: Recording, backend: str, metric: str):
    """The newest value of each statement of the quiet server."""
    series = stored(recording.backends[backend], metric, "quiet")
    values = {
        Statement(
            *(labels[name] for name in ("user", "datname", "queryid", "toplevel"))
        ): samples[-1][1]
        for labels, samples in series
    }
    assert len(values) == len(series), "two series tell about the same statement"
    return values


def test_the_stored_number_of_calls_is_the_number_that_were_made(recording, backend):
    values = last_values(recording, backend, "pg_stat_statements_calls_total")

    counted = {
        Known(s.user, s.database, recording.rows[s].text, s.toplevel): calls
        for s, calls in values.items()
        if s.database in DATABASES and s.user in USERS
    }
    assert counted == recording.calls


def test_every_row_is_stored_and_nothing_besides(recording, backend):
    calls = last_values(recording, backend, "pg_stat_statements_calls_total")
    seconds = last_values(recording, backend, "pg_stat_statements_seconds_total")

    # The exporter itself works in the database postgres and is counted there.
    at_rest = {s: row for s, row in recording.rows.items() if s.database != "postgres"}
    assert len(at_rest) > 30
    assert {s: value for s, value in calls.items() if s.database != "postgres"} == {
        s: row.calls for s, row in at_rest.items()
    }
    # VictoriaMetrics keeps about 12 decimal digits of a value.
    exact = pytest.approx({s: row.seconds for s, row in at_rest.items()}, rel=1e-11)
    assert {
        s: value for s, value in seconds.items() if s.database != "postgres"
    } == exact
    assert recording.rows.keys() <= calls.keys()


def test_a_statement_run_by_itself_and_inside_another_is_told_apart(recording):
    nested = [s for s in recording.rows if s.toplevel == "false" and s.user in USERS]

    assert len(nested) == len(USERS) * len(DATABASES)
    assert all(s._replace(toplevel="true") in recording.rows for s in nested)


@pytest.mark.parametrize("job", ["quiet", "shop"])
def test_no_label_set_is_shown_twice(recording, job):
    text = page(recording.exporters[job])

    shown = [
        (sample.name, frozenset(sample.labels.items()))
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]
    assert len(shown) > 100
    assert len(set(shown)) == len(shown)
