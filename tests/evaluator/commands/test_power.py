"""``power``: required sample sizes on the command line."""

from __future__ import annotations

import json

import pytest

from .running import CAPTURE, run


def test_power_needs_no_server_when_the_noise_is_given(capsys):
    arguments = ("--cv=0.1", "--calls=50", "--phi=0.2", "--interval=15s")

    assert run("power", *arguments, "--engine=classic", "--format=json") == 0

    document = json.loads(capsys.readouterr().out)
    (row,) = document["rows"]
    assert row["noise"]["spacing"] == 15
    assert [size["rise"] for size in row["sample_sizes"]] == [0.1, 0.2, 0.5]
    assert [size["formula"]["intervals"] for size in row["sample_sizes"]] == [16, 4, 2]
    assert row["sample_sizes"][2]["simulated"]["seconds"] == 150


def test_power_measures_a_quiet_a_usual_and_a_noisy_query_of_a_capture(capsys):
    assert run("power", *CAPTURE, "--engine=classic") == 0

    output = capsys.readouterr().out
    for kind in ("quiet query: int", "usual query: int", "noisy query: int"):
        assert kind in output
    assert "on db1:9187, queryid" in output


@pytest.mark.servers
def test_power_measures_in_prometheus(remembered, configured, capsys):
    config = configured(remembered)
    arguments = ("--since=1h", "--engine=classic", "--format=json")
    assert run("power", config, *arguments) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["engine"] == "classic"
    assert len(document["measured"]) == 30
    assert document["rows"][1]["noise"]["cv"] == pytest.approx(0.05, rel=0.3)


@pytest.mark.servers
def test_power_without_enough_intervals_asks_for_more(remembered, configured, capsys):
    assert run("power", configured(remembered), "--since=10m") == 3

    assert "look further back with --since" in capsys.readouterr().err
