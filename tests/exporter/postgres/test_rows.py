from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from exporter.postgres.queries import Query
from exporter.postgres.rows import entries, statements
from exporter.values.snapshot import Names

from ..builders import NAMES, key

CALLS = Query("", ("calls",))
BOTH = Query("", ("calls", "seconds"))


def row(
    *values: float, user: int = 10, database: int = 5, queryid: int | None = 1
) -> tuple[Any, ...]:
    return (user, database, queryid, True, *values)


def test_rows_become_columns_under_their_keys() -> None:
    rows = [row(7, 0.5), row(8, 0.25, queryid=-2)]

    read = statements(rows, BOTH, NAMES)

    assert read.keys == [key(1), key(-2)]
    assert read.columns == {"calls": (7, 8), "seconds": (0.5, 0.25)}


def test_a_server_without_statements_has_empty_columns() -> None:
    read = statements([], CALLS, NAMES)

    assert (read.keys, read.columns) == ([], {"calls": ()})


def test_rows_hidden_from_the_role_are_counted_not_shown() -> None:
    rows = [row(1), row(2, queryid=None), row(3, queryid=None)]

    read = statements(rows, CALLS, NAMES)

    assert read.columns["calls"] == (1,)
    assert read.skipped["no_privilege"] == 2


def test_rows_of_dropped_roles_and_databases_are_counted() -> None:
    rows = [row(1, user=99), row(2, database=98), row(3, database=98)]

    read = statements(rows, CALLS, NAMES)

    assert read.keys == []
    assert read.skipped["role_dropped"] == 1
    assert read.skipped["database_dropped"] == 2


def test_two_roles_whose_names_look_the_same_are_left_out() -> None:
    names = Names({10: "app", 11: "app", 12: "other"}, {5: "shop"})
    rows = [row(1, user=10), row(2, user=11), row(3, user=12)]

    read = statements(rows, CALLS, names)

    assert read.columns["calls"] == (3,)
    assert read.skipped["same_name"] == 2


ROWS = st.lists(
    st.builds(
        row,
        st.integers(0, 2**62),
        user=st.sampled_from([10, 11, 99]),
        database=st.sampled_from([5, 6, 98]),
        queryid=st.none() | st.integers(-(2**63), 2**63 - 1),
    )
)


@given(rows=ROWS)
def test_every_row_is_either_shown_or_counted(rows: list[tuple[Any, ...]]) -> None:
    read = statements(rows, CALLS, NAMES)

    assert len(read.keys) + sum(read.skipped.values()) == entries(rows, CALLS)


def test_a_summed_row_counts_for_all_its_rows() -> None:
    query = Query("", ("calls",), grouped=True)
    hidden, shown = (10, 5, None, None, 12, 4), (10, 5, 1, None, 7, 2)

    read = statements([hidden, shown], query, NAMES)

    assert read.columns == {"calls": (7,)}
    assert read.skipped["no_privilege"] == 4
    assert entries([hidden, shown], query) == 6
