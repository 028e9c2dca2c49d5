"""Figures stand beside their goals, and a missed one is called missed."""

from __future__ import annotations

import pytest

from bench.tables import against, table, with_table


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


PAGE = """# Page

### Before

Text.

| a |
| --- |
| 1 |

More text.

### After

| b |
| --- |
| 2 |

## End
"""
NEW = table(["a"], [("3",), ("4",)])


def test_a_table_takes_the_place_of_the_one_in_its_section():
    page = with_table(PAGE, "Before", NEW)

    assert page == PAGE.replace("| 1 |", "| 3 |\n| 4 |")
    assert with_table(page, "Before", NEW) == page


def test_the_last_table_before_another_chapter_is_replaced():
    assert with_table(PAGE, "After", NEW) == PAGE.replace(
        "| b |\n| --- |\n| 2 |", "| a |\n| --- |\n| 3 |\n| 4 |"
    )


def test_a_section_without_a_table_gets_it_at_its_end():
    page = "# Page\n\n### Before\n\nText.\n\n## End\n"

    assert with_table(page, "Before", NEW) == page.replace("Text.", f"Text.\n\n{NEW}")


def test_a_table_without_a_section_is_refused():
    with pytest.raises(ValueError, match="no section '### Elsewhere'"):
        with_table(PAGE, "Elsewhere", NEW)
