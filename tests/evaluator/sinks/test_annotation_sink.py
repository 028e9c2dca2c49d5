"""A verdict is annotated once, whatever Grafana answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluator.errors import SourceError, UnsureWriteError
from evaluator.grafana import Grafana
from evaluator.model import Level, Report, Settings
from evaluator.sinks.annotations import AnnotationSink
from evaluator.transport.client import Client
from lab.faults import Fault, time_outs
from lab.grafana import Grafana as Server
from tests.builders import DEPLOY_AT, deploy, finding


def report(level=Level.ALERT, **fields) -> Report:
    return Report(deploy(**fields), DEPLOY_AT + 1900, Settings(), (finding(level),))


@pytest.fixture
def server():
    with Server() as grafana:
        yield grafana


def sink(server, role="Editor", faults=()) -> AnnotationSink:
    client = Client(
        "grafana",
        server.url,
        token=server.add_token(role),
        timeout=time_outs(*faults),
    )
    return AnnotationSink(Grafana(client))


def test_a_verdict_is_stored_as_a_region(server):
    number = sink(server).publish(report())

    (row,) = server.annotations
    assert row["id"] == number
    assert (row["time"], row["timeEnd"]) == (1_790_000_000_000, 1_790_001_800_000)
    assert row["tags"][0] == "pgverdict"


def test_a_second_time_the_first_one_is_found(server):
    first = sink(server).publish(report())

    again = sink(server).publish(report(level=Level.WATCH))

    assert again == first
    assert len(server.annotations) == 1


def test_each_deploy_has_its_own(server):
    numbers = {sink(server).publish(report(id=f"grafana-{n}")) for n in range(3)}

    assert len(numbers) == len(server.annotations) == 3


def test_a_crowd_of_other_annotations_hides_nothing(server):
    first = sink(server).publish(report())
    for n in range(150):
        server.post_deploy(["deploy", "pgverdict-deploy:other"], at=DEPLOY_AT + n)

    assert sink(server).publish(report()) == first


@pytest.mark.parametrize(
    "fault",
    [
        Fault(drop="after", method="POST"),
        Fault(drop="before", method="POST"),
        Fault(delay=1.0, stored=True, method="POST"),
        Fault(504, "gateway", stored=True, method="POST"),
        Fault(500, "oops", method="POST"),
        Fault(200, "<html>", stored=True, method="POST"),
    ],
    ids=["lost answer", "lost request", "silence", "504", "500", "html"],
)
def test_a_lost_answer_never_makes_a_second_annotation(server, fault):
    server.faults.append(fault)

    with pytest.raises(UnsureWriteError):
        sink(server, faults=[fault]).publish(report())
    number = sink(server).publish(report())

    (row,) = server.annotations
    assert row["id"] == number


@pytest.mark.parametrize(
    "fault",
    [
        Fault(401, {"message": "Invalid API key"}),
        Fault(403, {"message": "no permission"}),
        Fault(429, {"message": "slow"}, {"Retry-After": "3600"}),
        Fault(500, {"message": "oops"}),
    ],
    ids=["401", "403", "429", "500"],
)
def test_without_a_look_nothing_is_written(server, fault):
    server.faults.append(replace(fault, method="GET"))

    with pytest.raises(SourceError):
        sink(server).publish(report())

    assert server.annotations == []
    assert [one.method for one in server.requests] == ["GET"]


def test_a_viewer_cannot_publish_and_the_error_names_the_permission(server):
    with pytest.raises(SourceError, match="annotations:create"):
        sink(server, "Viewer").publish(report())
