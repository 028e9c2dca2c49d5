from __future__ import annotations

from exporter.metrics.labels import labels, statement_labels

from ..builders import NAMES, key


def test_a_statement_is_named_by_role_database_queryid_and_toplevel() -> None:
    rendered = statement_labels(key(-(2**63), toplevel=False), NAMES)

    assert rendered == (
        '{user="app",datname="shop",queryid="-9223372036854775808",toplevel="false"}'
    )


def test_toplevel_is_left_out_where_the_server_does_not_show_it() -> None:
    rendered = statement_labels(key(1, toplevel=None), NAMES)

    assert "toplevel" not in rendered


def test_quotes_backslashes_and_newlines_are_escaped() -> None:
    rendered = labels(("query", 'say "a\\b"\nend'))

    assert rendered == r'{query="say \"a\\b\"\nend"}'
