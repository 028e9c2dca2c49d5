"""Answers that are not what was expected, described in a few words."""

from __future__ import annotations

import pytest

from evaluator.errors import SourceError
from evaluator.transport.answers import Answer
from lab.faults import Fault, FaultServer

from .calling import client


def test_a_page_instead_of_json_is_shown_by_its_title():
    page = "<!DOCTYPE html><html><head><title>Please\n log in</title></head></html>"
    with FaultServer(Fault(body=page)) as server, client(server) as http:
        answer = http.get("/x")

        with pytest.raises(SourceError) as caught:
            answer.json(dict[str, object])

    assert str(caught.value) == (
        f"grafana (GET {server.url}/x): answered something that is not JSON: "
        "an HTML page, “Please log in”"
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "answered something that is not JSON: nothing at all"),
        (b"\xff\xfe", "answered something that is not JSON"),
        (b"[1]", "answered JSON of an unexpected shape"),
        (b'"' + b"x" * 5000 + b'"', "x …"),
    ],
)
def test_json_of_another_kind_is_reported_with_a_short_excerpt(body, message):
    with pytest.raises(SourceError) as caught:
        Answer(body, "here").json(dict[str, object])

    assert message in str(caught.value)
    assert len(str(caught.value)) < 400
