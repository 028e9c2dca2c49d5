"""What is asked for besides the counters, and that its failure costs a note only."""

import numpy as np
import pytest

from evaluator.model import PlanSeen
from evaluator.sources.profiles import PROFILES
from evaluator.sources.surroundings import SurroundingsSource
from evaluator.transport.client import Client
from lab.faults import Fault, FaultServer, time_outs
from tests.builders import key

from ..prometheus_answers import (
    PROFILE,
    SERIES,
    answer,
    labels,
    matrix,
    series,
    success,
)

START, END = 1790000000.0, 1790003600.0
RANGE = "/api/v1/query_range"
SERVER = "db1:9719"
REFUSED = {"status": "error", "errorType": "bad_data", "error": "parse error"}


def no_sleep(seconds):
    pass


def plan(plan_id, outline, *times, queryid="1"):
    samples = [(START + at, "1") for at in times]
    return series(PROFILE.plan_info, *samples, queryid=queryid, plan_id=plan_id) | {
        "metric": labels(PROFILE.plan_info, queryid, plan_id=plan_id, plan=outline)
    }


def started(*samples, instance=SERVER):
    name = {"__name__": PROFILE.started, "instance": instance, "job": "postgres"}
    return {"metric": name, "values": [[START + at, value] for at, value in samples]}


def info(queryid, fingerprint, **more):
    return labels(PROFILE.query_info, queryid, fingerprint=fingerprint, **more)


def values(*samples, **metric):
    return {"metric": metric, "values": [[START + at, value] for at, value in samples]}


def grid(*result, **more):
    return Fault(body=matrix(*result, **more), path=RANGE)


def known(plans=(), starts=(), infos=()):
    """Answers to the three questions that are always asked."""
    return (
        answer(*plans),
        answer(*starts),
        Fault(body=success(list(infos)), path=SERIES),
    )


def read(*faults, context=None, profile=PROFILE, **more):
    """What is found, and what was asked for."""
    with FaultServer(*faults) as server:
        client = Client(
            "prometheus", server.url, timeout=time_outs(*faults), sleep=no_sleep
        )
        with client:
            source = SurroundingsSource(
                client, profile, 'job="postgres"', context or {}
            )
            return source.read(START, END, **more), server.requests


def test_plans_are_reported_with_the_time_they_were_in_force():
    found, requests = read(
        *known(
            plans=[
                plan("a", "Seq Scan orders", -1, 0, 60, 240),
                plan("b", "Index Scan orders", 120, 180),
                plan("c", "Result", 60, queryid="2"),
            ]
        )
    )

    one, other = key("1"), key("2")
    assert found.surroundings.plans == (
        PlanSeen(one, "a", "Seq Scan orders", START, START + 60),
        PlanSeen(one, "b", "Index Scan orders", START + 120, START + 180),
        PlanSeen(one, "a", "Seq Scan orders", START + 240, START + 240),
        PlanSeen(other, "c", "Result", START + 60, START + 60),
    )
    assert requests[0].value("query") == (
        'pg_stat_statements_plan_info{job="postgres"}[3602000ms]'
    )
    assert found.notes == ()


def test_fingerprints_are_read_without_samples_and_contradictions_left_out():
    found, requests = read(
        *known(
            infos=[
                info("1", "f1", query="select 1"),
                info("1", "f1", query="select 1 -- again"),
                info("2", "f1"),
                info("3", "f2"),
                info("3", "f3"),
                labels(PROFILE.query_info, "4"),
            ]
        )
    )

    assert found.fingerprints == {key("1"): "f1", key("2"): "f1"}
    assert found.texts == {key("1"): "select 1 -- again"}  # the longest
    assert requests[2].path == SERIES
    assert requests[2].value("match[]") == (
        'pg_stat_statements_query_info{job="postgres"}'
    )


def test_starts_of_the_servers_are_reported_as_they_were_stored():
    (one,) = read(*known(starts=[started((0, "5"), (60, "NaN"), (120, "7"))]))[
        0
    ].surroundings.starts

    assert one.instance == SERVER
    assert one.times.tolist() == [START, START + 120]
    assert one.values.tolist() == [5, 7]


def test_what_nobody_wrote_is_silent():
    found, _ = read(*known())

    assert found.notes == ()
    assert found.surroundings.plans == found.surroundings.starts == ()


def test_names_that_an_exporter_does_not_have_are_not_asked_for():
    _, requests = read(answer(), profile=PROFILES["postgres_exporter"])

    assert [one.value("query") for one in requests] == [
        'pg_postmaster_start_time_seconds{job="postgres"}[3602000ms]'
    ]


def test_a_measure_is_evaluated_on_a_grid_as_its_author_wrote_it():
    found, requests = read(
        *known(),
        grid(values((0, "0.5"), (30, "NaN"), (60, "+Inf"), (90, "0.7"))),
        context={"cpu": "avg(rate(node_cpu[2m]))"},
    )

    (one,) = found.surroundings.context
    assert (one.name, one.instance) == ("cpu", "")
    assert one.times.tolist() == [START, START + 90]
    assert one.values.tolist() == [0.5, 0.7]
    asked = requests[3]
    assert asked.path == RANGE
    assert asked.value("query") == "avg(rate(node_cpu[2m]))"
    assert (asked.value("start"), asked.value("end"), asked.value("step")) == (
        "1790000000.000",
        "1790003600.000",
        "30.000",
    )


def test_the_grid_of_a_long_window_is_coarse():
    _, requests = read(*known(), grid(), context={"cpu": "x"}, step=1.0)

    assert requests[3].value("step") == "7.200"


def test_the_grid_of_a_short_window_holds_enough_values_to_split():
    _, requests = read(*known(), grid(), context={"cpu": "x"}, step=120.0)

    assert requests[3].value("step") == "60.000"


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("db1:9719", ["db1:9719"]),
        ("db1:9100", ["db1:9719", "db1:9720"]),
        ("db1", ["db1:9719", "db1:9720"]),
        ("db2:9100", []),
    ],
)
def test_a_measure_belongs_to_the_servers_of_its_host(label, expected):
    found, _ = read(
        *known(),
        grid(values((0, "1"), instance=label)),
        context={"cpu": "x"},
        instances={"db1:9719", "db1:9720"},
    )

    assert [one.instance for one in found.surroundings.context] == expected
    assert bool(found.notes) is not bool(expected)


def test_other_labels_tell_series_of_one_measure_apart():
    found, _ = read(
        *known(),
        grid(values((0, "1"), instance=SERVER, job="n", mode="user", cpu="0")),
        context={"cpu": "x"},
    )

    assert found.surroundings.context[0].name == "cpu (cpu=0, mode=user)"


def test_a_measure_without_values_is_noted_with_what_it_needs():
    found, _ = read(*known(), grid(), context={"cpu": "x"}, instances={SERVER})

    assert found.notes == (
        "context 'cpu': no value for db1:9719; its series need the label instance of "
        "the exporter, or none",
    )


def test_too_many_series_are_not_measure():
    many = [values((0, "1"), query=f"{number}") for number in range(21)]

    found, _ = read(*known(), grid(*many), context={"queries": "x"})

    assert found.surroundings.context == ()
    assert "21 series are too many to tell a cause; aggregate" in found.notes[0]


def test_a_wrong_expression_is_noted_and_the_next_one_still_read():
    found, _ = read(
        *known(),
        Fault(400, REFUSED, path=RANGE),
        grid(values((0, "1"))),
        context={"broken": "sum(", "cpu": "x"},
    )

    assert [one.name for one in found.surroundings.context] == ["cpu"]
    (note,) = found.notes
    assert note.startswith("context 'broken': not known: prometheus (POST http://")
    assert "bad_data: parse error" in note


def test_a_warning_is_noted_with_what_it_is_about():
    found, _ = read(
        answer(warnings=["store down"]),
        *known()[1:],
        grid(values((0, "1")), warnings=["cut"]),
        context={"cpu": "x"},
    )

    assert found.notes == ("the plans: store down", "context 'cpu': cut")


def test_a_server_that_fails_is_not_asked_for_ever():
    found, requests = read(Fault(500, times=0), context={"cpu": "x", "locks": "y"})

    assert len(requests) == 3
    assert found.fingerprints == {}
    assert [note.split(":")[0] for note in found.notes] == [
        "the plans",
        "the starts of the server",
        "the fingerprints",
        "context 'cpu'",
        "context 'locks'",
    ]
    assert found.notes[-1].endswith("not asked for after 3 failures")


def test_samples_outside_the_time_are_not_used():
    found, _ = read(
        *known(
            plans=[plan("a", "x", -0.5), plan("b", "y", 0, 3600), plan("c", "z", 3601)],
            starts=[started((-0.5, "1"), (3600.5, "2"))],
        )
    )

    assert [(one.plan_id, one.first) for one in found.surroundings.plans] == [
        ("b", START)
    ]
    assert all(not np.any(one.times) for one in found.surroundings.starts)
