"""``run``: what it needs, and how it watches with any trigger."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from evaluator.assembly import Systems
from evaluator.commands.run import watch
from evaluator.model import Deploy
from evaluator.service.ledger import Ledger
from evaluator.service.loop import Outside
from evaluator.settings.schema import WebConfig, load
from evaluator.sinks.links import RELATIVE
from evaluator.triggers.inbox import Inbox, InboxRefusedError
from evaluator.triggers.port import Mark
from lab.process import free_port, wait_until

from .running import run

NOWHERE = "http://127.0.0.1:9"


class Announced:
    """A trigger that is not Grafana."""

    name = "announced"

    def __init__(self, *deploys):
        self._marks = [Mark(deploy) for deploy in deploys]

    def marks(self, _start, _end):
        return self._marks


@dataclass
class Watch:
    """A running evaluator without any Grafana."""

    inbox: Inbox
    stop: threading.Event
    url: str

    def page(self, path):
        return requests.get(f"{self.url}{path}", timeout=10)

    def is_ready(self):
        try:
            return self.page("/-/ready").ok
        except requests.ConnectionError:
            return False


@pytest.fixture
def watching(tmp_path):
    """Watches by a configuration and some triggers, in a thread; leaves a ledger."""

    @contextmanager
    def start(path, *triggers):
        config = load(Path(path))
        systems = Systems(config, {})
        outside = Outside(
            triggers, systems.read, systems.around, systems.selector_for, publish=None
        )
        address = f"127.0.0.1:{free_port()}"
        web = WebConfig(listen_address=address)
        started = Watch(Inbox(), threading.Event(), f"http://{address}")
        thread = threading.Thread(
            target=watch,
            args=(config, outside, RELATIVE, web, started.inbox, started.stop),
        )
        thread.start()
        try:
            wait_until(started.is_ready, seconds=30, what="the first round")
            yield started
        finally:
            started.stop.set()
            thread.join(30)
            assert not thread.is_alive()

    return start


@pytest.fixture
def written(tmp_path):
    """A configuration without a Grafana, whose rounds are far apart."""

    def write(prometheus=NOWHERE, more=""):
        path = tmp_path / "evaluator.yml"
        path.write_text(
            f"prometheus: {{url: '{prometheus}', timeout: 5s}}\n"
            f"service: {{state: '{tmp_path}/state.sqlite', poll_interval: 1h}}\n{more}"
        )
        return path

    return write


def test_without_any_trigger_it_says_what_to_configure(written, capsys):
    assert run("run", f"--config.file={written()}") == 2

    lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith(
        "no trigger is configured, so no deploy would ever be seen"
    )
    assert "grafana: missing; for example" in lines[1]


def test_check_says_that_a_trigger_is_missing(written, capsys):
    assert run("check", f"--config.file={written()}") == 3

    assert "note   triggers: none; `run` needs one" in capsys.readouterr().out


def test_it_goes_to_its_end_in_order_with_a_deploy_just_handed_in(
    watching, written, tmp_path, now
):
    with watching(written()) as started:
        started.inbox.put(Mark(Deploy("api-1", now)))

    with pytest.raises(InboxRefusedError):
        started.inbox.put(Mark(Deploy("api-2", now)))
    with Ledger(str(tmp_path / "state.sqlite")) as ledger:
        deploys = ledger.between(now - 60, now + 60)
    assert [deploy.id for deploy in deploys] == ["api-1"]


@pytest.mark.servers
def test_without_a_grafana_the_verdict_of_any_trigger_is_on_metrics(
    watching, written, remembered, now
):
    engine = "engine: {window: 10m, min_samples: 5, history: 30m}\n"
    trigger = Announced(Deploy("ci-7", now - 7200, "shop", source="pipeline 7"))

    with watching(written(remembered, engine), trigger) as started:
        page = started.page("/metrics").text

    (regressed,) = [
        line
        for line in page.splitlines()
        if line.startswith("pgverdict_query_regressed{")
    ]
    assert 'deploy="ci-7"' in regressed
    assert 'queryid="slow"' in regressed
    assert 'pgverdict_errors_total{step="publish"} 0.0' in page
