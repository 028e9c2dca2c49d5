"""``check`` reports what is wrong with the data and the settings, on a real server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from evaluator.sources.profiles import PROFILES
from lab import fetch
from lab.history import backfill
from lab.prometheus import Prometheus

from .running import run

pytestmark = pytest.mark.servers

PROFILE = PROFILES["pgverdict"]


def exposition(
    *sides: dict[str, str], every: float, back: float, rate: float = 5.0
) -> str:
    """Counters of four queries until now, once with the labels of each side."""
    now = time.time()
    times = [now - 2 - back + every * step for step in range(int(back / every) + 1)]
    lines = []
    for place, name in enumerate(PROFILE.counters):
        lines.append(f"# TYPE {name.removesuffix('_total')} counter")
        for side in sides:
            for queryid in range(4):
                own = {"datname": "shop", "user": "app", "queryid": str(queryid)}
                labels = ",".join(
                    f'{label}="{value}"' for label, value in {**own, **side}.items()
                )
                lines += [
                    f"{name}{{{labels}}} "
                    f"{int(rate * (queryid + 1) * (at - times[0])) * 0.01**place!r} "
                    f"{at:.3f}"
                    for at in times
                ]
    return "\n".join([*lines, "# EOF", ""])


@contextmanager
def checked(tmp_path: Path, text: str, **engine: object) -> Iterator[list[str]]:
    server = Prometheus(fetch.debian_tool("prometheus"))
    backfill(server, text)
    with server:
        path = tmp_path / "evaluator.yml"
        path.write_text(
            yaml.safe_dump({"prometheus": {"url": server.url}, "engine": engine})
        )
        yield [f"--config.file={path}"]


OURS = {"job": "pgverdict", "instance": "db:9719", "toplevel": "true"}
THEIRS = {"job": "postgres_exporter", "instance": "db:9187"}


def test_two_exporters_of_one_server_fail_and_both_are_named(tmp_path, capsys):
    text = exposition(OURS, THEIRS, every=15, back=1200)

    with checked(tmp_path, text) as config:
        assert run("check", *config) == 3

    said = capsys.readouterr().out
    assert 'job="pgverdict", instance="db:9719" is used' in said
    assert 'job="postgres_exporter", instance="db:9187" is not' in said
    assert 'choose one with the selector, for example job="pgverdict"' in said


def test_a_pod_that_was_replaced_is_fine(tmp_path, capsys):
    text = exposition(OURS, every=15, back=1200)
    half = time.time() - 450
    lines = [
        line.replace("{", f'{{pod="{"a" if float(line.split()[-1]) < half else "b"}",')
        if "{" in line
        else line
        for line in text.splitlines()
    ]
    lines.sort(key=lambda line: (line == "# EOF", "seconds" in line, "#" not in line))

    with checked(tmp_path, "\n".join([*lines, ""])) as config:
        assert run("check", *config) == 0

    assert "raw samples of 4 queries, every 15 s" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("every", "engine", "named"),
    [
        (360, {"window": "3h"}, "set engine.max_gap to 12m or more"),
        (1200, {"window": "10h"}, "set engine.max_gap to 40m or more"),
        (60, {"window": "8m"}, "set engine.window to 11m or more"),
        (15, {"max_gap": "10s"}, "set engine.max_gap to 1m or more"),
        (240, {"window": "30m"}, "set engine.window to 44m or more"),
    ],
)
def test_settings_that_leave_nothing_to_judge_fail(
    every, engine, named, tmp_path, capsys
):
    text = exposition(OURS, every=every, back=14_000)

    with checked(tmp_path, text, **engine) as config:
        assert run("check", *config) == 3

    said = capsys.readouterr().out
    assert "FAILED" in said
    assert named in said


def test_what_makes_judging_hard_is_a_note(tmp_path, capsys):
    text = exposition(OURS, every=15, back=1200, rate=0.005)

    with checked(tmp_path, text, window="2h") as config:
        assert run("check", *config) == 0

    said = capsys.readouterr().out
    assert "set engine.history to 6h or more" in said

    with checked(tmp_path, text) as config:
        assert run("check", *config) == 0

    assert "fewer than engine.min_calls (100)" in capsys.readouterr().out
