"""A statement whose query id changed is followed; nothing else is."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from evaluator.engine.prepare.lineage import follow
from evaluator.sources.readings import Reading
from tests.builders import DEPLOY_AT, key
from tests.queries import Counters, batches, interval_means, series_of

TOLERANCE = 360.0
STEP = 60.0


def used(queryid, first, last, *, seen=(-30, 30), start=1000.0, rows=None):
    """An entry scraped each minute of *seen*, called between *first* and *last*.

    Minutes count from the deploy; 40 calls of 0.1 s in each minute of use.
    """
    minutes = np.arange(seen[0], seen[1] + 1.0)
    calls = start + 40.0 * (np.clip(minutes, first, last) - max(first, seen[0]))
    return Counters(
        key(queryid),
        times=DEPLOY_AT + STEP * minutes,
        calls=calls,
        seconds=calls / 10,
        rows=None if rows is None else np.full(minutes.shape, rows),
    )


def followed(*series, same=("old", "new")):
    prints = {key(queryid): "f1" for queryid in same}
    return followed_by(prints, *series)


def followed_by(prints, *series):
    """The queries that are left, one by one."""
    return [
        query
        for batch in batches(series)
        for query in queries_of(
            follow(batch, prints, at=DEPLOY_AT, tolerance=TOLERANCE)
        )
    ]


@dataclass(frozen=True)
class Followed(Counters):
    """A query, and the id that it had before."""

    replaces: str = ""


def queries_of(batch):
    return [
        Followed(**vars(one), replaces=batch.replaces.get(one.key, ""))
        for one in series_of(Reading((batch,)))
    ]


OLD = used("old", -30, 0)
NEW = used("new", 1, 30, seen=(1, 30), start=12.0)


def test_an_old_and_a_new_id_of_one_statement_become_one_query():
    (one,) = followed(OLD, NEW)

    assert one.key == key("new")
    assert one.replaces == "old"
    assert one.times.tolist() == [DEPLOY_AT + STEP * m for m in range(-30, 31)]


@pytest.mark.parametrize("start", [1.0, 12.0, 1e6])
def test_the_seam_is_dropped_as_a_reset_and_nothing_else_is(start):
    joined = followed(OLD, used("new", 1, 30, seen=(1, 30), start=start))

    (means,) = interval_means(joined, -np.inf, np.inf, max_gap=300)

    assert means.dropped == {"reset": 1, "gap": 0, "idle": 0}
    assert means.calls.tolist() == [40.0] * 59
    assert means.means == pytest.approx(np.full(59, 0.1))


def test_an_id_that_was_there_but_not_in_use_begins_with_its_first_call():
    (one,) = followed(OLD, used("new", 1, 30))

    (means,) = interval_means([one], -np.inf, np.inf, max_gap=300)
    assert means.dropped == {"reset": 1, "gap": 0, "idle": 0}
    assert means.calls.size == 59


def test_both_ids_may_be_called_for_a_while():
    rolling = used("old", -30, 4), used("new", -2, 30, seen=(-2, 30), start=5.0)

    (one,) = followed(*rolling)

    assert one.replaces == "old"
    assert np.all(np.diff(one.times) == STEP)


@pytest.mark.parametrize(
    "series",
    [
        (OLD, used("new", -30, 30)),
        (OLD, used("new", 15, 30, seen=(15, 30))),
        (used("old", -30, 30), NEW),
        (used("old", -30, -12), NEW),
        (used("old", -2, 2, seen=(-2, 30)), NEW),
        (OLD, used("new", 40, 40, seen=(1, 30))),
        (OLD, replace(NEW, key=replace(NEW.key, user="other"))),
        (OLD, replace(NEW, key=replace(NEW.key, instance="db2:1"))),
        (OLD, replace(NEW, key=replace(NEW.key, toplevel="false"))),
    ],
    ids=[
        "new-was-used-before",
        "new-begins-later",
        "old-goes-on",
        "old-ended-earlier",
        "old-is-as-new",
        "new-is-never-called",
        "another-user",
        "another-server",
        "another-level",
    ],
)
def test_what_does_not_follow_at_the_deploy_stays_two_queries(series):
    prints = {one.key: "f1" for one in series}

    found = followed_by(prints, *series)

    assert [one.key for one in found] == sorted(one.key for one in series)
    assert not any(one.replaces for one in found)


def test_another_statement_is_not_followed():
    assert len(followed(OLD, NEW, same=("old",))) == 2
    assert len(followed(OLD, NEW, same=())) == 2


def test_two_new_ids_leave_open_which_one_followed():
    other = replace(NEW, key=key("newer"))

    assert len(followed(OLD, NEW, other, same=("old", "new", "newer"))) == 3


def test_an_id_that_goes_on_beside_them_does_no_harm():
    beside = used("beside", -30, 30)

    found = followed(OLD, NEW, beside, same=("old", "new", "beside"))

    assert [one.key.queryid for one in found] == ["beside", "new"]


def test_rows_are_joined_and_unknown_where_one_side_has_none():
    (one,) = followed(used("old", -30, 0, rows=7.0), NEW)

    assert one.rows is not None
    assert one.blocks is None
    assert np.isfinite(one.rows).tolist() == [True] * 31 + [False] * 30


def test_an_entry_with_few_scrapes_is_left_alone():
    lone = used("new", 1, 1, seen=(1, 1))
    empty = used("new", 1, 1, seen=(1, 0))

    for left in (followed(OLD, lone), followed(OLD, empty)):
        assert [one.key.queryid for one in left] == ["new", "old"]
        assert not any(one.replaces for one in left)
    assert followed() == []


def test_the_squares_of_the_times_are_joined_with_them():
    minutes = np.arange(-30.0, 31.0)
    old = replace(OLD, squares=np.clip(minutes, -30, 0) * 40 * 0.02 + 90)
    new = replace(NEW, squares=np.arange(1.0, 31.0) * 40 * 0.02)

    (means,) = interval_means(followed(old, new), -np.inf, np.inf, max_gap=300)

    # 40 calls of 0.1 s each: 0.8 − 40 · 0.1².
    assert means.dispersion == pytest.approx(np.full(59, 0.4))
