"""Each mistake is reported at once: where, what, and what would be right."""

from __future__ import annotations

import json
import time

import pytest

from lab.grafana import Grafana
from lab.process import free_port

from .commands import TOKEN, evaluator, write
from .service.watching import watching

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

NOWHERE = "http://127.0.0.1:9"  # the discard port: nobody listens
WRONG = """
promethues:
  url: http://localhost:9090
prometheus:
  url: localhost:9090
  tiemout: 5s
grafana:
  url: http://localhost:3000
  timeout: soon
engine:
  min_samples: 1
  treshold: 0.2
  alpha: 5
service:
  poll_interval: -1
"""


def test_every_wrong_setting_is_reported_at_once_with_place_and_nearest_name(tmp_path):
    path = tmp_path / "evaluator.yml"
    path.write_text(WRONG)

    ended = evaluator("check", config=path)

    assert ended.code == 2
    assert ended.output == ""
    assert ended.complaint.splitlines() == [
        f"pgverdict-evaluator: {path}: {problem}"
        for problem in (
            'promethues: unknown setting; did you mean "prometheus"?',
            'prometheus.tiemout: unknown setting; did you mean "timeout"?',
            "prometheus.url: expected an http:// or https:// address, "
            "got 'localhost:9090'",
            "grafana.timeout: expected a duration such as 30m or 90s, got 'soon'",
            'engine.treshold: unknown setting; did you mean "threshold"?',
            "engine.min_samples: expected a whole number of intervals, 3 or more, "
            "got 1",
            "engine.alpha: expected a fraction between 0 and 1 such as 0.05, got 5",
            "service.poll_interval: expected a duration with a unit such as 30m or "
            "90s, got '-1'",
        )
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("prometheus: [", "is not valid YAML: line 1: "),
        ("prometheus:\n  url: 'http://[::1'\n", "expected an address such as http://"),
    ],
    ids=["YAML", "address"],
)
def test_a_file_that_cannot_be_used_is_reported(tmp_path, text, problem):
    path = tmp_path / "evaluator.yml"
    path.write_text(text)

    ended = evaluator("deploy", "--at", "1790000000", config=path)

    assert ended.code == 2
    assert problem in ended.complaint


def test_a_missing_file_is_reported_by_name(tmp_path):
    ended = evaluator("run", folder=tmp_path)

    assert ended.code == 2
    assert ended.complaint == (
        "pgverdict-evaluator: evaluator.yml: cannot be read: No such file or "
        "directory; name another with --config.file\n"
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [(None, "cannot be read: No such file or directory"), ("\n", "is empty")],
    ids=["missing", "empty"],
)
def test_a_missing_secret_is_reported_by_its_place(tmp_path, content, problem):
    secret = tmp_path / "secret"
    if content is not None:
        secret.write_text(content)
    prometheus = {"url": NOWHERE, "token_file": str(secret)}

    ended = evaluator(
        "check", "--syntax-only", config=write(tmp_path, {"prometheus": prometheus})
    )

    assert ended.code == 2
    assert f"prometheus.token_file: {secret} {problem}" in ended.complaint


def test_a_secret_that_cannot_be_sent_is_not_shown(tmp_path):
    (tmp_path / "secret").write_text(f"{TOKEN}\nand a second line")
    prometheus = {"url": NOWHERE, "token_file": str(tmp_path / "secret")}

    ended = evaluator(
        "check", "--syntax-only", config=write(tmp_path, {"prometheus": prometheus})
    )

    assert ended.code == 2
    assert "prometheus: token: holds a character that no HTTP header" in ended.complaint


def test_a_password_in_an_address_is_not_shown_when_nobody_answers(tmp_path):
    url = f"http://reader:{TOKEN}@127.0.0.1:9"
    config = write(tmp_path, {"prometheus": {"url": url, "timeout": "1s"}})

    ended = evaluator("deploy", "--at", "1790000000", config=config)

    assert ended.code == 3
    assert f"prometheus (POST {NOWHERE}/api/v1/series)" in ended.complaint
    assert "could not be reached: Connection refused" in ended.complaint


@pytest.mark.parametrize(
    ("ago", "problem"),
    [
        (-3600, "in the future"),
        (600, "the window after"),
    ],
    ids=["the future", "an open window"],
)
def test_a_deploy_whose_window_has_not_passed_is_refused(tmp_path, ago, problem):
    config = write(tmp_path, {"prometheus": {"url": NOWHERE}})

    ended = evaluator("deploy", "--at", f"{time.time() - ago:.0f}", config=config)

    assert ended.code == 2
    assert ended.complaint.startswith("pgverdict-evaluator: --at: ")
    assert problem in ended.complaint


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["deploy", "--at", "yesterday"], "expected a time such as 2026-11-29T14:05"),
        (["deploy", "--at", "1790000000000"], "did you mean 1790000000?"),
    ],
    ids=["no time", "milliseconds"],
)
def test_a_wrong_argument_is_reported(arguments, problem):
    ended = evaluator(*arguments)

    assert ended.code == 2
    assert problem in ended.complaint


VECTOR = {"resultType": "vector", "result": [{"metric": {}, "value": [1, "1"]}]}
OTHER = {
    "resultType": "matrix",
    "result": [{"metric": {"__name__": "up"}, "values": [[1, "1"]]}],
}


@pytest.mark.parametrize(
    ("capture", "problem"),
    [
        ("", "something that is not JSON: nothing at all"),
        ("<html><title>502 Bad Gateway</title>", "an HTML page, “502 Bad Gateway”"),
        (json.dumps({"status": "success", "data": VECTOR}), "a vector instead of a m"),
        (json.dumps({"status": "success", "data": OTHER}), "holds up, but no pg_stat"),
    ],
    ids=["nothing", "HTML", "vector", "other metric"],
)
def test_a_capture_without_counters_is_reported(capture, problem):
    ended = evaluator("replay", "-", "--deploy-time", "1790000000", stdin=capture)

    assert ended.code == 3
    assert ended.output == ""
    assert ended.complaint.startswith("pgverdict-evaluator: standard input: ")
    assert problem in ended.complaint


def test_a_capture_that_is_not_there_is_reported(tmp_path):
    ended = evaluator(
        "replay", "capture.json", "--deploy-time", "1790000000", folder=tmp_path
    )

    assert ended.code == 2
    assert "capture.json: cannot be read (No such file or directory)" in ended.complaint


def test_a_window_longer_than_what_is_kept_is_not_all_clear(recording, tmp_path):
    # Both windows have passed and only the later one holds samples.
    window = time.time() - recording.truth.began + 310
    at = time.time() - window
    config = write(tmp_path, recording.config("prometheus-2"))
    asked = ("--at", f"{at:.3f}", "--service", "shop", "--window", f"{window:.3f}s")

    ended = evaluator("deploy", *asked, config=config)
    report = evaluator("deploy", *asked, "--format", "json", config=config).report

    assert ended.code == 4
    assert "undecided: not judged: " in ended.output
    assert "with too little data to tell" in ended.output
    assert "without a regression" not in ended.output
    assert "note: the oldest sample is from " in ended.output
    assert "or Prometheus' retention is shorter" in ended.output
    assert {query["verdict"] for query in report["queries"]} == {"insufficient_data"}


def test_a_second_evaluator_on_the_same_state_is_refused(recording, tmp_path):
    with Grafana() as grafana, watching(recording, grafana) as watch:
        config = watch.evaluator.configuration()
        address = f"127.0.0.1:{free_port()}"
        environment = {"PGVERDICT_GRAFANA_TOKEN": TOKEN}

        ended = evaluator(
            *("run", f"--web.listen-address={address}"),
            config=config,
            environment=environment,
        )
        watch.wait_for_rounds()

    assert ended.code == 2
    assert "state.sqlite is held by another evaluator; stop it, or" in ended.complaint


def test_an_address_that_is_taken_is_reported(recording, tmp_path):
    with Grafana() as grafana:
        taken = grafana.url.removeprefix("http://")
        config = {"prometheus": {"url": NOWHERE}, "grafana": {"url": grafana.url}}
        config["service"] = {"state": str(tmp_path / "state.sqlite")}

        ended = evaluator(
            "run", f"--web.listen-address={taken}", config=write(tmp_path, config)
        )

    assert ended.code == 2
    assert f"web.listen_address: {taken} cannot be used: " in ended.complaint


def test_the_service_without_a_grafana_is_reported(tmp_path):
    config = {"prometheus": {"url": NOWHERE}}

    ended = evaluator("run", config=write(tmp_path, config), folder=tmp_path)

    assert ended.code == 2
    assert "grafana: missing; for example" in ended.complaint
