"""Subjects that cannot be wrong."""

from __future__ import annotations

import pytest

from evaluator.model import Drift
from tests.builders import DEPLOY_AT, KEY, deploy


def test_a_deploy_without_an_end_is_over_at_once():
    assert deploy().end == DEPLOY_AT


def test_a_deploy_does_not_end_before_it_begins():
    with pytest.raises(ValueError, match="ends before it begins"):
        deploy(end=DEPLOY_AT - 1)


def test_a_drift_divides_before_from_after_where_it_shifted():
    assert Drift("d", "db1:9719", DEPLOY_AT - 60, DEPLOY_AT).at == DEPLOY_AT


@pytest.mark.parametrize(
    ("server", "last_clean", "said"),
    [
        (KEY.instance, DEPLOY_AT + 1, "before it was last clean"),
        ("db2:9719", DEPLOY_AT, "of another server"),
    ],
)
def test_a_drift_that_contradicts_itself_is_refused(server, last_clean, said):
    with pytest.raises(ValueError, match=said):
        Drift("d", server, last_clean, DEPLOY_AT, KEY)
