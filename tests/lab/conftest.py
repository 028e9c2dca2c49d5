"""A stand-in for Grafana, and ways to ask it."""

import pytest
import requests

from lab.grafana import Grafana

AT = 1_790_000_000_000


@pytest.fixture
def grafana():
    with Grafana() as server:
        yield server


@pytest.fixture
def call(grafana):
    """Send a request as an Editor."""
    token = grafana.add_token("Editor")

    def send(method, path="", *, token=token, **more):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        url = f"{grafana.url}/api/annotations{path}"
        return requests.request(method, url, headers=headers, timeout=60, **more)

    return send


@pytest.fixture
def add(call):
    """Make an annotation; gives its id."""

    def post(tags=(), time=AT, **more):
        body = {"text": "x", "tags": list(tags), "time": time, **more}
        answer = call("POST", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()["id"]

    return post


@pytest.fixture
def ids(call):
    """Find annotations; gives their ids as answered."""

    def get(**parameters):
        return [row["id"] for row in call("GET", params=parameters).json()]

    return get
