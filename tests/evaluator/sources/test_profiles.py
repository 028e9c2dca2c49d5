"""Which server a series is of, by one label or by several."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.sources.api import PrometheusApi, label_name, matcher
from evaluator.sources.profiles import PROFILES
from evaluator.sources.readings import join
from evaluator.sources.surroundings import SurroundingsSource
from evaluator.transport.client import Client
from lab.faults import Fault, FaultServer

from ..prometheus_answers import calls, matrix, seconds
from .test_readings import reading

ONE = PROFILES["pgverdict"]
SEVERAL = replace(ONE, instance=("cluster", "namespace", "instance"))
texts = st.text(st.sampled_from("ab/\\:."), max_size=5)


def test_one_label_is_the_name_of_the_server_as_it_is():
    assert ONE.server({"instance": "a/b"}) == "a/b"
    assert ONE.server_values("a/b") == ("a/b",)


@given(st.tuples(texts, texts, texts), st.tuples(texts, texts, texts))
def test_several_labels_make_one_name_that_says_them_all(one, other):
    names = [
        SEVERAL.server(dict(zip(SEVERAL.server_labels, values, strict=True)))
        for values in (one, other)
    ]

    assert (names[0] == names[1]) == (one == other)
    assert [SEVERAL.server_values(name) for name in names] == [one, other]


def test_servers_of_the_same_instance_in_two_clusters_are_two():
    found = reading(
        *(
            kind((10, "5"), (20, "7"), cluster=cluster, namespace="n")
            for cluster in ("eu", "us")
            for kind in (calls, seconds)
        ),
        profile=SEVERAL,
    )

    assert found.servers == {"eu/n/db1:9719", "us/n/db1:9719"}


def test_what_the_configuration_calls_two_servers_is_judged_as_two():
    samples = [(15.0 * n, f"{n + 1}") for n in range(40)]
    found = join(
        [
            reading(
                *(
                    kind(*samples, cluster=cluster, namespace="n")
                    for cluster in ("eu", "us")
                    for kind in (calls, seconds)
                ),
                profile=SEVERAL,
            )
        ]
    )

    assert len(found.batches) == 2
    assert found.twins == ()


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, [""]),
        ({"cluster": "eu"}, ["eu/n/a:1", "eu/n/b:1"]),
        ({"cluster": "eu", "instance": "a:1"}, ["eu/n/a:1"]),
        ({"instance": "a:9100"}, ["eu/n/a:1", "us/n/a:1"]),
        ({"cluster": "eu", "namespace": "n", "instance": "b:1"}, ["eu/n/b:1"]),
        ({"cluster": "asia"}, []),
    ],
)
def test_a_measure_belongs_to_the_servers_that_its_labels_do_not_exclude(
    labels, expected
):
    profile = replace(
        SEVERAL, plan_info="", started="", query_info="", recovery="", server_info=""
    )
    answer = matrix({"metric": labels, "values": [[1790000000, "1"]]})
    with FaultServer(Fault(body=answer)) as server:
        source = SurroundingsSource(
            Client("prometheus", server.url), profile, context={"cpu": "x"}
        )
        found = source.read(
            1790000000, 1790003600, instances=["eu/n/a:1", "eu/n/b:1", "us/n/a:1"]
        )

    assert sorted(one.instance for one in found.surroundings.context) == expected


@pytest.mark.parametrize(
    ("name", "more", "expected"),
    [
        ("calls_total", (), 'calls_total{job="x"}'),
        ("job:calls:rate", (), 'job:calls:rate{job="x"}'),
        ("my.calls", (), '{__name__="my.calls",job="x"}'),
        ('a "b"', (), '{__name__="a \\"b\\"",job="x"}'),
        ("1st", (), '{__name__="1st",job="x"}'),
        ("calls", (matcher("k8s.pod", "a"),), 'calls{job="x","k8s.pod"="a"}'),
    ],
)
def test_names_that_are_not_plain_are_quoted(name, more, expected):
    api = PrometheusApi(Client("prometheus", "http://127.0.0.1:9"), 'job="x"')

    assert api.chosen(name, *more) == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [("queryid", "queryid"), ("_x1", "_x1"), ("a.b", '"a.b"'), ("é", '"é"')],
)
def test_labels_are_quoted_only_where_they_must_be(label, expected):
    assert label_name(label) == expected
