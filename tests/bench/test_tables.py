"""Figures stand beside their goals, and a missed one is called missed."""

from __future__ import annotations

import pytest

from bench.tables import against, table


def test_a_table_has_a_rule_below_its_head():
    assert table(["a", "b"], [("1", "2")]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


@pytest.mark.parametrize(
    ("figure", "at_least", "word"),
    [
        (0.4, False, "reached"),
        (0.41, False, "**missed**"),
        (0.4, True, "reached"),
        (0.39, True, "**missed**"),
    ],
)
def test_a_goal_missed_is_shown(figure, at_least, word):
    assert against(figure, 0.4, at_least=at_least)[1] == word
