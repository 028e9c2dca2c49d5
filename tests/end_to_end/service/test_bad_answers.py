"""Prometheus misbehaves: each fault is reported and counted, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from lab.relay import Relay

from ..commands import TOKEN, evaluator, write
from ..recording.stored import Recording
from .trouble import CURED, FAULTS, MET, TIMEOUT, Trouble, in_trouble

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def troubled(recording: Recording) -> Iterator[Trouble]:
    """A service that meets every fault of Prometheus, and has to wait a minute then."""
    with in_trouble(recording) as trouble:
        yield trouble


@pytest.mark.parametrize("fault", FAULTS)
def test_no_verdict_is_given_on(recording, fault, tmp_path):
    answer, words = FAULTS[fault]
    config = recording.config("prometheus-2")
    (tmp_path / "token").write_text(TOKEN)
    with Relay(recording.backends["prometheus-2"], answer) as relay:
        config["prometheus"] |= {"url": relay.url, "timeout": f"{TIMEOUT:g}s"}
        config["prometheus"]["token_file"] = str(tmp_path / "token")

        ended = evaluator(
            *("deploy", "--at", f"{recording.truth.at:.3f}", "--service", "shop"),
            config=write(tmp_path, config),
        )

    assert ended.code == 3
    assert ended.output == ""
    (line,) = ended.complaint.splitlines()
    assert line.startswith("pgverdict-evaluator: ")
    assert words in line


@pytest.mark.parametrize("fault", CURED)
def test_a_verdict_is_given_where_a_smaller_question_is_answered(
    recording, fault, tmp_path
):
    answer, _ = FAULTS[fault]
    tries = 3 if fault in ("503", "half a body") else 1
    config = recording.config("prometheus-2")
    with Relay(
        recording.backends["prometheus-2"], replace(answer, times=tries)
    ) as relay:
        config["prometheus"] |= {"url": relay.url, "timeout": f"{TIMEOUT:g}s"}

        ended = evaluator(
            *("deploy", "--at", f"{recording.truth.at:.3f}", "--service", "shop"),
            config=write(tmp_path, config),
        )

    assert ended.code == 1
    assert "1 detected" in ended.output


def test_in_the_service_each_fault_is_reported_and_counted_and_the_next_round_goes_on(
    troubled,
):
    watch, deploys = troubled.watch, troubled.deploys
    watch.wait_for(lambda: watch.errors("judge") == len(MET), "every fault is met")

    complaints = watch.complaints("judge")
    assert [about for about, _ in complaints] == [f"grafana-{one}" for one in deploys]
    for (_, words), (_, why) in zip(MET.values(), complaints, strict=True):
        assert words in why

    later = watch.grafana.post_deploy(at=troubled.at)
    watch.wait_for(lambda: bool(watch.verdicts(later)), "the next deploy is judged")
    watch.wait_for_rounds()

    assert watch.errors("judge") == len(MET)
    log = watch.log
    for one in deploys:
        judged = log.find(f'msg="deploy judged" deploy=grafana-{one} ')
        assert judged == -1 or judged > log.index(f"about=grafana-{one} ")


def test_every_deploy_that_met_a_fault_is_judged_in_the_end(troubled):
    watch = troubled.watch

    watch.wait_for(
        lambda: all(map(watch.verdicts, troubled.deploys)), "a verdict on every deploy"
    )
    watch.wait_for_rounds()

    for deploy in troubled.deploys:
        (verdict,) = watch.verdicts(deploy)
        assert "pgverdict-outcome:regressed" in verdict["tags"]
    assert watch.metrics.value("deploys_pending") == 0
