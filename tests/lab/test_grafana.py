"""The stand-in does what Grafana's legacy annotation API does, traps included."""

import json
import time

import pytest

from .conftest import AT


def test_what_was_posted_is_found_as_stored(call, add):
    number = add(["deploy"], timeEnd=AT + 5, text="done")

    (row,) = call("GET").json()

    expected = {"id": number, "text": "done", "time": AT, "timeEnd": AT + 5}
    assert row.items() >= {**expected, "tags": ["deploy"]}.items()
    assert call("GET", f"/{number}").json() == row


def test_a_post_answers_with_message_and_id(call):
    answer = call("POST", json={"text": "x"})

    assert answer.json() == {"message": "Annotation added", "id": 1}


@pytest.mark.parametrize("limit", [{}, {"limit": 0}, {"limit": "many"}])
def test_without_a_limit_a_hundred_come_and_nobody_says_so(grafana, ids, limit):
    for number in range(120):
        grafana.post_deploy(at=AT / 1000 + number)

    assert len(ids(**limit)) == 100
    assert len(ids(limit=1000)) == 120


def test_the_latest_end_comes_first_and_then_the_latest_start(add, ids):
    early = add(time=AT)
    late = add(time=AT + 10)
    long = add(time=AT + 1, timeEnd=AT + 10)

    assert ids() == [late, long, early]


def test_the_time_counts_only_with_both_ends(add, ids):
    number = add(time=AT)

    assert ids(**{"from": AT + 1}) == [number]
    assert ids(to=AT - 1) == [number]
    assert ids(**{"from": AT + 1, "to": AT + 2}) == []
    assert ids(**{"from": 0, "to": AT - 1}) == [number]


def test_a_region_is_found_where_it_overlaps(add, ids):
    number = add(time=AT, timeEnd=AT + 100)

    for start, end, found in [
        (AT - 10, AT, [number]),
        (AT + 100, AT + 200, [number]),
        (AT + 40, AT + 60, [number]),
        (AT - 10, AT - 1, []),
        (AT + 101, AT + 102, []),
    ]:
        assert ids(**{"from": start, "to": end}) == found


def test_times_default_to_now_and_reversed_ends_are_swapped(call, grafana):
    before = time.time() * 1000
    call("POST", json={"text": "x"})
    call("POST", json={"text": "x", "time": AT + 5, "timeEnd": AT})

    now, swapped = grafana.annotations
    assert before - 1 <= now["time"] == now["timeEnd"] <= time.time() * 1000
    assert (swapped["time"], swapped["timeEnd"]) == (AT, AT + 5)


def test_a_time_in_seconds_lands_in_1970(add, ids):
    number = add(time=AT // 1000)

    assert ids(**{"from": 1, "to": 30 * 86400 * 1000}) == [number]
    assert ids(**{"from": AT - 1, "to": AT + 1}) == []


def test_tags_are_cut_at_the_second_colon_trimmed_and_kept_once(add, grafana):
    add(
        [
            "image:reg:5000/app:1.2",
            "version:sha256:abcd",
            " env : prod ",
            "a",
            "a",
            ":",
            "",
        ]
    )

    stored = ["image:reg", "version:sha256", "env:prod", "a"]
    assert grafana.annotations[0]["tags"] == stored


def test_a_key_finds_any_value_and_a_pair_finds_its_own(add, ids):
    canary, plain = add(["deploy:canary"], time=AT + 1), add(["deploy"])

    assert ids(tags="deploy") == [canary, plain]
    assert ids(tags="deploy:canary") == [canary]
    assert ids(tags="deploy:canary:2") == [canary]


def test_all_of_counts_rows_and_so_misses_what_matches_twice(add, ids):
    number = add(["deploy", "deploy:canary"])

    assert ids(tags="deploy") == []
    assert ids(tags="deploy", matchAny="true") == [number]
    assert ids(tags=["deploy", "deploy:canary"]) == [number]


def test_all_of_needs_each_tag_and_any_of_needs_one(add, ids):
    both, one = add(["a", "b"], time=AT + 1), add(["a"])

    assert ids(tags=["a", "b"]) == [both]
    assert ids(tags=["a", "b"], matchAny="true") == [both, one]


def test_an_empty_text_is_refused(call):
    for body in ({"text": ""}, {}):
        answer = call("POST", json=body)

        assert answer.status_code == 400
        assert "text" in answer.json()["message"]


def test_more_than_500_characters_of_tags_as_json_are_refused(add, call):
    fits = ["x" * 84, *(f"{number}" + "y" * 99 for number in range(4))]
    too_long = ["x" * 85, *fits[1:]]

    assert len(json.dumps(fits, separators=(",", ":"))) == 500
    assert add(fits) == 1
    assert call("POST", json={"text": "x", "tags": too_long}).status_code == 500


def test_an_unknown_id_is_not_found(call):
    for method in ("GET", "PATCH", "DELETE"):
        assert call(method, "/7", json={"text": "x"}).status_code == 404


def test_patch_changes_what_is_given(call, add, grafana):
    number = add(["a"], text="old")

    call("PATCH", f"/{number}", json={"timeEnd": AT + 9})

    (row,) = grafana.annotations
    assert (row["text"], row["tags"], row["time"], row["timeEnd"]) == (
        "old",
        ["a"],
        AT,
        AT + 9,
    )


def test_put_changes_all(call, add, grafana):
    number = add(["a"], text="old")

    call("PUT", f"/{number}", json={"text": "new", "time": AT + 1})

    (row,) = grafana.annotations
    assert (row["text"], row["tags"], row["time"]) == ("new", [], AT + 1)


def test_delete_removes_one(call, add, ids):
    gone, stays = add(), add()

    call("DELETE", f"/{gone}")

    assert ids() == [stays]


def test_deleting_number_0_removes_all_that_have_no_dashboard(call, add, ids):
    add()
    add()
    on_dashboard = add(dashboardUID="abc", panelId=1)

    assert call("DELETE", "/0").status_code == 200

    assert ids() == [on_dashboard]


def test_the_graphite_form_has_seconds_and_its_own_names(call, grafana):
    body = {"what": "deploy", "when": AT // 1000, "data": "by ci", "tags": "a b"}

    answer = call("POST", "/graphite", json=body)

    assert answer.json()["message"] == "Graphite annotation added"
    (row,) = grafana.annotations
    assert (row["text"], row["time"], row["tags"]) == ("deploy\nby ci", AT, ["a", "b"])
    assert call("POST", "/graphite", json={"when": 1}).status_code == 400


def test_a_deploy_is_posted_in_seconds(grafana):
    number = grafana.post_deploy(["deploy", "service:shop"], "v2", at=AT / 1000)

    (row,) = grafana.annotations
    assert (row["id"], row["time"], row["timeEnd"]) == (number, AT, AT)
    assert row["tags"] == ["deploy", "service:shop"]
