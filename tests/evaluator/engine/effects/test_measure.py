"""What kept statements from being measured is counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.builders import DEPLOY_AT, KEY

from .worlds import background, effects, statement


def after_reset(one, at):
    """The same statement, its counters made anew at a scrape."""
    made_anew = np.arange(one.times.size) >= at
    return replace(
        one,
        calls=np.where(made_anew, one.calls - one.calls[at], one.calls),
        seconds=np.where(made_anew, one.seconds - one.seconds[at], one.seconds),
    )


def test_without_any_there_is_nothing_to_report():
    assert effects(background(10)).errors == ()


def test_a_reset_by_the_migration_is_counted_with_its_time():
    world = [after_reset(one, 302) for one in background(10)]

    (errors,) = effects(world).errors

    assert errors.server == KEY.instance
    assert errors.reset_at == DEPLOY_AT + 120
    assert errors.reset == 10
    assert errors.evicted == 0


def test_an_eviction_is_that_of_one_statement():
    first, *others = background(10)

    (errors,) = effects([after_reset(first, 310), *others]).errors

    assert errors.reset_at is None
    assert (errors.evicted, errors.statements) == (1, 10)


def test_a_series_with_holes_or_an_early_end_was_cut():
    ended = statement("ended", entry_ends=20)
    holed = statement("holed")
    kept = np.delete(np.arange(holed.times.size), [305, 306])
    holed = replace(
        holed,
        **{name: getattr(holed, name)[kept] for name in ("times", "calls", "seconds")},
    )

    (errors,) = effects([ended, holed, *background(10)]).errors

    assert errors.cut == 2


def test_a_missing_text_of_a_new_statement_counts_where_others_are_known():
    world = [statement("new", begins=1), *background(10)]

    (errors,) = effects(world, texts={"b1": "SELECT 1"}).errors

    assert errors.without_text == 1
    assert effects(world, texts={"b1": "SELECT 1", "new": "SELECT 2"}).errors == ()
    assert effects(world).errors == ()


def test_statements_that_are_scraped_by_turns_have_no_holes():
    """Two exporters of one server, half a minute apart."""
    one, other = background(5), [statement(f"other {n}") for n in range(5)]
    later = [replace(each, times=each.times + 30.0) for each in other]

    assert effects([*one, *later]).errors == ()
