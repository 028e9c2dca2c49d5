"""Statements that begin or end with a deploy, and which of them replaced another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.model import Settings
from tests.builders import DEPLOY_AT, deploy, key

from .worlds import BEFORE, background, effects, ids, statement

OLD = "SELECT * FROM orders WHERE id = $1"
NEW = "SELECT *, total FROM orders WHERE id = $1"


def test_a_statement_first_seen_at_the_deploy_is_new_and_the_rest_is_not():
    found = effects([statement("new", begins=1), *background(5)])

    (new,) = found.new
    assert new.key == key("new")
    assert new.first_seen == DEPLOY_AT + 60
    assert new.after.load == pytest.approx(0.04, rel=0.1)
    assert new.share == pytest.approx(0.04 / (0.04 + 5 * 0.008), rel=0.2)
    assert new.notable


@pytest.mark.parametrize(
    "begins",
    [-7, 7, -200],
    ids=["before the tolerance", "after it", "hours ago"],
)
def test_one_first_seen_at_another_time_is_not_of_the_deploy(begins):
    assert effects([statement("other", begins=begins), *background(5)]).new == ()


def test_what_began_between_the_begin_and_the_end_of_a_deploy_is_new():
    rolling = deploy(end=DEPLOY_AT + 600)

    found = effects([statement("late", begins=12), *background(5)], at=rolling)

    assert ids(found.new) == ["late"]


def test_without_an_older_scrape_nothing_is_new():
    world = [statement(f"s{number}", begins=1) for number in range(5)]

    assert effects(world).new == ()


@pytest.mark.parametrize(
    ("made", "new"), [(DEPLOY_AT + 20, ["cut"]), (DEPLOY_AT - 9000, [])]
)
def test_the_time_at_which_an_entry_was_made_decides_where_it_is_known(made, new):
    """What the exporter's limit left out before is not new when it appears."""
    world = [statement("cut", begins=1), *background(5)]
    known = [
        replace(one, since=np.full(one.times.size, made if one is world[0] else 1.6e9))
        for one in world
    ]

    assert ids(effects(known).new) == new


def test_one_that_appears_with_the_calls_of_a_long_life_is_not_new():
    """Before PostgreSQL 17 nothing says when an entry was made."""
    one = statement("cut", begins=1)
    cut = replace(one, calls=one.calls + 1e6, seconds=one.seconds + 1e4)

    assert effects([cut, *background(5)]).new == ()


@pytest.mark.parametrize(
    ("fingerprint", "new"), [("abc", []), ("other", ["new"]), ("", ["new"])]
)
def test_a_statement_known_under_another_id_is_not_new(fingerprint, new):
    """Two old ids, so that lineage does not follow: nobody knows which it was."""
    world = [statement("new", begins=1), statement("old"), *background(5)]
    known = {"old": "abc", **({"new": fingerprint} if fingerprint else {})}

    assert ids(effects(world, fingerprints=known).new) == new


def test_the_same_id_of_another_user_is_not_new():
    mine = statement("same", begins=1)
    theirs = replace(statement("same"), key=replace(key("same"), user="report"))

    assert effects([mine, theirs, *background(5)]).new == ()


def test_new_statements_are_ranked_by_their_time():
    world = [
        statement("small", begins=1, mean=0.001),
        statement("large", begins=2),
        *background(5),
    ]

    found = effects(world)

    assert ids(found.new) == ["large", "small"]


@pytest.mark.parametrize(("share", "notable"), [(0.05, True), (0.9, False)])
def test_the_share_from_which_one_is_notable_is_a_setting(share, notable):
    world = [statement("new", begins=1), *background(5)]

    (new,) = effects(world, settings=Settings(notable_share=share)).new

    assert new.notable is notable


def test_a_statement_that_stopped_at_the_deploy_has_vanished():
    found = effects([statement("gone", ends=0), *background(5)])

    (gone,) = found.vanished
    assert gone.key == key("gone")
    assert gone.last_called == DEPLOY_AT
    assert gone.before.load == pytest.approx(0.04, rel=0.1)


@pytest.mark.parametrize("ends", [-7, 7], ids=["before the tolerance", "after it"])
def test_one_that_stopped_at_another_time_has_not(ends):
    assert effects([statement("other", ends=ends), *background(5)]).vanished == ()


def test_a_job_that_was_silent_as_long_before_has_not_vanished():
    """Every ten minutes, last just before the deploy; 30 minutes later is the next
    due only in the longest pause that it made before."""
    t = np.arange(-BEFORE, 30)
    job = statement("job")
    calls = np.where((t % 20 == 19) & (t < 0), 50.0, 0.0)
    summed = np.concatenate([[0.0], np.cumsum(calls)])
    job = replace(job, calls=summed, seconds=0.01 * summed)

    assert effects([job, *background(5)]).vanished == ()


@pytest.mark.parametrize("texts", [{"old": OLD, "new": NEW}, {}])
def test_a_new_statement_is_matched_to_a_vanished_one_with_the_same_tables(texts):
    world = [
        statement("old", ends=0),
        statement("new", begins=1, mean=0.05),
        *background(5),
    ]

    (new,) = effects(world, texts=texts).new

    assert new.notable
    if not texts:
        assert new.replaced is None
        return
    assert new.replaced is not None
    assert new.pair is not None
    assert new.replaced.key == key("old")
    assert new.replaced.text == OLD
    assert new.pair.value == pytest.approx(0.16, rel=0.1)
    assert new.pair.low is not None
    assert new.pair.low > 0


def test_one_that_replaces_another_and_takes_no_more_time_is_not_notable():
    world = [statement("old", ends=0), statement("new", begins=1, mean=0.005)]

    (new,) = effects([*world, *background(5)], texts={"old": OLD, "new": NEW}).new

    assert new.share > 0.05
    assert not new.notable


def test_of_several_the_one_called_as_often_was_replaced_and_each_only_once():
    world = [
        statement("old often", rate=20.0, ends=0),
        statement("old", rate=4.0, ends=0),
        statement("new", rate=4.0, mean=0.03, begins=1),
        statement("new often", rate=18.0, begins=1),
        *background(5),
    ]
    texts = dict.fromkeys(["old often", "old", "new", "new often"], OLD)

    found = effects(world, texts=texts)

    replaced = {n.key.queryid: n.replaced and n.replaced.key.queryid for n in found.new}
    assert replaced == {
        "new": "old",
        "new often": "old often",
    }
