"""Finding and making annotations, and what becomes of answers that go wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import (
    IncompleteDataError,
    RefusedError,
    SourceError,
    UnsureWriteError,
)
from evaluator.grafana import Annotation, Grafana, split_tag
from evaluator.transport.client import Client
from lab.annotations import stored_tags, tag_pairs
from lab.faults import Fault, FaultServer, time_outs
from lab.grafana import Grafana as Server

AT = 1_790_000_000.0


@pytest.fixture
def server():
    with Server() as grafana:
        yield grafana


def connect(server, role="Editor", limit=1000, faults=()) -> Grafana:
    token = server.add_token(role)
    client = Client(
        "grafana",
        server.url,
        token=token,
        timeout=time_outs(*faults),
        sleep=lambda _: None,
    )
    return Grafana(client, limit)


def ids(found):
    return [one.id for one in found]


def test_an_annotation_is_read_in_seconds(server):
    number = server.post_deploy(["deploy", "env:prod"], "v2", at=AT + 0.25, end=AT + 9)

    (found,) = connect(server).find(AT, AT + 60, ["deploy"])

    assert found == Annotation(number, AT + 0.25, AT + 9, "v2", ("deploy", "env:prod"))


def test_only_those_that_overlap_the_time_and_bear_a_tag_are_found(server):
    wanted = [
        server.post_deploy(["deploy"], at=AT),
        server.post_deploy(["release:1"], at=AT + 1),
        server.post_deploy(["deploy"], at=AT - 99, end=AT + 5),
    ]
    server.post_deploy(["deploy"], at=AT - 1)
    server.post_deploy(["deploy"], at=AT + 61)
    server.post_deploy(["other"], at=AT)

    found = connect(server).find(AT, AT + 60, ["deploy", "release"])

    assert ids(found) == [wanted[2], wanted[0], wanted[1]]


def test_a_deploy_with_two_tags_of_one_key_is_not_missed(server):
    number = server.post_deploy(["deploy", "deploy:canary"], at=AT)

    assert ids(connect(server).find(AT, AT + 1, ["deploy"])) == [number]


def test_more_than_a_page_is_found_completely(server):
    made = [server.post_deploy(["deploy"], at=AT + step) for step in range(25)]

    found = connect(server, limit=10).find(AT, AT + 60, ["deploy"])

    assert ids(found) == made


def test_regions_across_a_page_are_found_once(server):
    long = server.post_deploy(["deploy"], at=AT, end=AT + 100)
    made = [server.post_deploy(["deploy"], at=AT + step) for step in range(1, 8)]

    found = connect(server, limit=3).find(AT, AT + 60, ["deploy"])

    assert ids(found) == [long, *made]


def test_more_at_one_time_than_can_be_listed_is_never_a_shorter_list(server):
    for _ in range(4):
        server.post_deploy(["deploy"], at=AT)

    with pytest.raises(
        IncompleteDataError, match="more than 3 annotations with deploy"
    ):
        connect(server, limit=3).find(AT, AT + 60, ["deploy"])


marks = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), max_size=14)


@settings(max_examples=25, deadline=None)
@given(
    marks=marks, limit=st.integers(2, 6), window=st.tuples(*[st.integers(0, 30)] * 2)
)
def test_paging_finds_the_same_as_one_great_page(marks, limit, window):
    start, end = (AT + edge for edge in sorted(window))
    with Server() as server:
        for at, length in marks:
            server.post_deploy(["deploy"], at=AT + at, end=AT + at + length)

        expected = connect(server).find(start, end, ["deploy"])
        try:
            found = connect(server, limit=limit).find(start, end, ["deploy"])
        except IncompleteDataError:
            assert len(expected) >= limit
        else:
            assert found == expected


def test_a_viewer_is_enough_to_read(server):
    server.post_deploy(["deploy"], at=AT)

    assert len(connect(server, "Viewer").find(AT, AT, ["deploy"])) == 1


def test_an_annotation_is_made_in_milliseconds(server):
    number = connect(server).create(AT + 0.5, AT + 60, "text", ["a", "b:c"])

    (row,) = server.annotations
    assert row["id"] == number
    assert (row["time"], row["timeEnd"]) == (1_790_000_000_500, 1_790_000_060_000)
    assert (row["text"], row["tags"]) == ("text", ["a", "b:c"])


@pytest.mark.parametrize(("start", "end"), [(AT / 1000, AT), (AT, AT - 1), (0, 0)])
def test_times_that_would_land_elsewhere_are_a_mistake_of_the_caller(
    server, start, end
):
    with pytest.raises(ValueError, match="not the times of an annotation"):
        connect(server).create(start, end, "x", [])

    assert server.annotations == []


def test_permission_to_write_is_checked_without_writing(server):
    assert connect(server, "Editor").may_write()
    assert not connect(server, "Viewer").may_write()
    assert server.annotations == []


def test_a_wrong_token_is_an_error_of_the_permission_check(server):
    grafana = connect(server)
    server.faults.append(Fault(401, {"message": "Invalid API key"}))

    with pytest.raises(RefusedError, match="401 Unauthorized: Invalid API key"):
        grafana.may_write()


def test_what_takes_an_empty_annotation_is_not_grafana(server):
    grafana = connect(server)
    server.faults.append(Fault(200, {"id": 1}))

    with pytest.raises(SourceError, match="is this Grafana"):
        grafana.may_write()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            Fault(401, {"message": "Invalid API key"}),
            "401 Unauthorized: Invalid API key",
        ),
        (Fault(403, {"message": "no permission"}), "403 Forbidden: no permission"),
        (
            Fault(429, {"message": "slow down"}, {"Retry-After": "3600"}),
            "429 Too Many Requests: slow down",
        ),
        (Fault(500, {"message": "oops"}), "500 Internal Server Error: oops"),
        (Fault(200, "<html><title>Grafana</title>"), "an HTML page, “Grafana”"),
        (Fault(200, {"message": "no list"}), "JSON of an unexpected shape"),
        (Fault(200, [{"text": "no id"}]), "JSON of an unexpected shape"),
        (Fault(302, headers={"Location": "/login"}), "redirects to /login"),
        (Fault(delay=1.0), "sent nothing for 0.3 s"),
    ],
    ids=["401", "403", "429", "500", "html", "object", "no id", "302", "silence"],
)
def test_a_search_that_goes_wrong_is_an_error_and_the_next_works(server, fault, said):
    grafana = connect(server, faults=[fault])
    number = server.post_deploy(["deploy"], at=AT)
    server.faults.append(fault)

    with pytest.raises(SourceError) as caught:
        grafana.find(AT, AT, ["deploy"])

    assert said in str(caught.value)
    assert ids(grafana.find(AT, AT, ["deploy"])) == [number]


def test_a_wait_that_grafana_asks_for_is_short_enough_to_be_waited(server):
    grafana = connect(server)
    number = server.post_deploy(["deploy"], at=AT)
    server.faults.append(Fault(429, {}, {"Retry-After": "2"}))

    assert ids(grafana.find(AT, AT, ["deploy"])) == [number]


def test_unknown_fields_missing_fields_and_a_null_text_do_no_harm():
    rows = [
        {
            "id": 1,
            "time": 1_790_000_000_000,
            "text": None,
            "tags": ["deploy"],
            "new": {},
        },
        {"id": 2, "time": 1_790_000_000_000, "text": "x", "tags": None, "timeEnd": 0},
        {
            "id": 3,
            "time": 1_790_000_001_000,
            "timeEnd": 0,
            "text": "",
            "tags": ["deploy"],
        },
    ]
    with FaultServer(Fault(body=rows)) as server:
        found = Grafana(Client("grafana", server.url)).find(AT, AT + 1, ["deploy"])

    assert found == [
        Annotation(1, AT, AT, "", ("deploy",)),
        Annotation(3, AT + 1, AT + 1, "", ("deploy",)),
    ]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(drop="after"),
        Fault(504, "gateway", stored=True),
        Fault(200, "<html>hello</html>", stored=True),
        Fault(200, {"message": "added"}, stored=True),
        Fault(drop="before"),
    ],
    ids=["dropped", "504", "html", "no id", "never arrived"],
)
def test_a_write_without_a_proper_answer_is_unsure(server, fault):
    grafana = connect(server)
    server.faults.append(fault)

    with pytest.raises(UnsureWriteError):
        grafana.create(AT, AT, "x", ["a"])

    assert len(server.annotations) == fault.carried_out


def test_a_write_that_is_not_allowed_is_certain(server):
    with pytest.raises(RefusedError, match="annotations:create"):
        connect(server, "Viewer").create(AT, AT, "x", ["a"])


tags = st.text(st.sampled_from("ab: "), max_size=6)


@given(kept=st.lists(tags, max_size=4), asked=tags)
def test_a_tag_is_matched_as_grafana_does_it(kept, asked):
    annotation = Annotation(1, AT, AT, "", tuple(stored_tags(kept)))
    pairs = tag_pairs(kept)

    expected = any(
        key == one and value in ("", other)
        for key, value in tag_pairs([asked])
        for one, other in pairs
    )
    assert annotation.has(asked) == expected
    assert [split_tag(tag) for tag in annotation.tags] == pairs
