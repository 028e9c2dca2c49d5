"""What is counted at a deploy of a scene, and how the table shows it."""

from __future__ import annotations

import numpy as np
import pytest

from bench.scenes import SCENES, make
from bench.scenes.command import main
from bench.scenes.examination import Tally, at_every_look, at_the_end
from bench.scenes.figures import Figures, examine_scenes, row, rows


@pytest.fixture(scope="module")
def example():
    return make(SCENES["quiet"], [3], queries=200)


@pytest.mark.parametrize("judge", [at_the_end, at_every_look])
def test_the_shares_detected_are_those_of_the_regressions(example, judge):
    tally = judge(example)

    assert np.count_nonzero(example.factors > 1.0) == 4
    assert tally.found == 2 * tally.at_half + 2 * tally.at_double
    assert tally.alerts <= tally.alarms
    assert tally.at_double == 1.0


def test_a_cold_start_pages_nobody():
    tallies = [at_every_look(make(SCENES["restart"], [seed])) for seed in range(2)]

    assert all(tally.alerts == 0 for tally in tallies)


def tally(**figures):
    values = dict.fromkeys(Tally.__slots__, 0) | {"at_half": 0.7, "at_double": 0.9}
    return Tally(**{**values, **figures})


@pytest.mark.parametrize(
    ("figures", "reached"),
    [
        ([tally(alerts=1), tally(alerts=1)], True),
        ([tally(alerts=1), tally(alerts=2)], False),
        ([tally(alerts=11), *[tally()] * 20], False),
        ([tally(at_half=0.4)], False),
    ],
)
def test_a_scene_misses_its_goal_by_its_mean_its_worst_deploy_or_its_power(
    figures, reached
):
    cells = " ".join(row("quiet", [Figures(figures, figures)]))

    assert ("**missed**" not in cells) is reached


def test_the_row_shows_means_the_worst_deploy_and_what_is_muted():
    figures = [tally(alarms=3, alerts=1, found=4, muted=1), tally(found=4)]

    cells = row("quiet", [Figures(figures, figures)])

    assert "1.50 (3)" in cells
    assert "0.50 (1)" in cells
    assert SCENES["quiet"].equation in cells
    assert cells[-1] == "12 %"


def test_in_parallel_it_finds_the_same():
    alone, parallel = (
        dict(
            examine_scenes(
                ["quiet"], deploys=2, seeds=[0], queries=40, processes=processes
            )
        )
        for processes in (1, 2)
    )

    assert alone == parallel


def test_the_command_prints_a_row_for_each_scene(capsys):
    main(["--scenes", "quiet", "locks", "--deploys=1", "--queries=40"])

    printed = capsys.readouterr()
    assert "| quiet |" in printed.out
    assert "| locks |" in printed.out
    assert "| mean |" in printed.out
    assert "quiet, seed 0: 1 deploys" in printed.err


def test_every_set_of_seeds_must_meet_the_goals_and_has_its_figures():
    good, bad = Figures([tally()], [tally()]), Figures([tally()], [tally(alerts=2)])

    scene, mean = rows([("quiet", [good, bad])])

    assert "0.00 (0) / 2.00 (2)" in scene
    assert "≤ 1 **missed**" in scene
    assert "+50 % ≥ 0.7 reached" in mean
    assert "0.70 / 0.70" in mean
