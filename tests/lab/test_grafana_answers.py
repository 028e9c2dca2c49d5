"""Whom the stand-in for Grafana lets in, and the faults that it is asked to show."""

import pytest
import requests

from lab.faults import Fault


@pytest.mark.parametrize("token", ["", "glsa_wrong"])
def test_no_token_and_a_wrong_one_are_not_let_in(call, token):
    answer = call("GET", token=token)

    assert answer.status_code == 401
    assert "message" in answer.json()


def test_a_viewer_may_read_and_not_write(call, grafana):
    viewer = grafana.add_token("Viewer")

    assert call("GET", token=viewer).status_code == 200
    for method, path in [("POST", ""), ("PATCH", "/1"), ("DELETE", "/1")]:
        answer = call(method, path, token=viewer, json={"text": ""})
        assert answer.status_code == 403
    assert "annotations:delete" in answer.json()["message"]


def test_a_revoked_token_is_not_let_in(call, grafana):
    token = grafana.add_token("Admin")
    grafana.revoke(token)

    assert call("GET", token=token).status_code == 401


def test_anybody_may_ask_for_the_health(grafana):
    answer = requests.get(f"{grafana.url}/api/health", timeout=60)

    assert answer.json()["database"] == "ok"


def test_another_path_is_not_found(grafana):
    token = grafana.add_token("Admin")
    headers = {"Authorization": f"Bearer {token}"}

    for path in ("/api/annotations/x", "/api/dashboards"):
        answer = requests.get(grafana.url + path, headers=headers, timeout=60)
        assert answer.status_code == 404


def test_a_body_that_is_not_json_is_refused(call):
    assert call("POST", data=b"hello").status_code == 400


def test_a_scripted_answer_is_given_once_and_nothing_is_stored(call, add, grafana):
    grafana.faults.append(
        Fault(503, {"message": "busy"}, {"Retry-After": "2"}, method="POST")
    )

    refused = call("POST", json={"text": "x"})

    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
    assert grafana.annotations == []
    assert add() == 1


def test_a_connection_can_be_dropped_before_and_after_storing(call, grafana):
    for fault, stored in ((Fault(drop="before"), 0), (Fault(drop="after"), 1)):
        grafana.faults.append(fault)

        with pytest.raises(requests.ConnectionError):
            call("POST", json={"text": "x"})

        assert len(grafana.annotations) == stored


def test_a_request_can_be_carried_out_though_the_answer_says_otherwise(call, grafana):
    grafana.faults.append(Fault(504, "gateway", stored=True))

    assert call("POST", json={"text": "x"}).status_code == 504
    assert len(grafana.annotations) == 1
