"""Normalised statements → statements that EXPLAIN (GENERIC_PLAN) understands. Pure.

pg_stat_statements puts ``$1`` wherever there was a constant. In some places the grammar
takes a constant only, in others PostgreSQL cannot infer the parameter's type from what
stands beside it. Each such shape has another spelling with the same plan.

This works on the text and not on a syntax tree, because texts may be too deep for one;
the caller must parse the result.
"""

from __future__ import annotations

import re

# From 18 on a comment stands for further parameters of a list: ``$1 /*, ... */``.
_PARAMETERS = r"\$\d+(?:\s*/\*[^*]*\*/|\s*,\s*\$\d+)*"
# In ARRAY[$1] the parameter is a text; in IN ($1) it has the type of the left side.
_ANY_ARRAY = re.compile(
    rf"\s*(?<![<>!=~+*/@%^&|-])(?P<operator><>|!=|=)\s*(?P<quantifier>any|all|some)\s*"
    rf"\(\s*array\s*\[\s*(?P<list>{_PARAMETERS})\s*\]\s*\)",
    re.IGNORECASE,
)
_LISTS = {
    ("=", "any"): "IN",
    ("=", "some"): "IN",
    ("<>", "all"): "NOT IN",
    ("!=", "all"): "NOT IN",
}
# ``interval '1 day'`` is a constant with its type, and normalised ``interval $1``.
_TYPES = (
    r"timestamp\s+with\s+time\s+zone|timestamp\s+without\s+time\s+zone|"
    r"time\s+with\s+time\s+zone|time\s+without\s+time\s+zone|"
    r"timestamptz|timestamp|timetz|interval|date|uuid|jsonb|json|inet|cidr|numeric|"
    r"point|tsquery|tsvector|int4range|int8range|numrange|tsrange|tstzrange|daterange"
)
_TYPED_CONSTANT = re.compile(
    rf"(?<![\w\"$.])(?P<type>{_TYPES})\s+(?P<parameter>\$\d+)", re.IGNORECASE
)
# ``extract(epoch FROM x)`` is normalised as well, and its grammar takes no parameter.
_EXTRACT = re.compile(r"\bextract\s*\(\s*\$\d+\s+from\b", re.IGNORECASE)


def for_generic_plan(query: str) -> str:
    """*query* with the shapes replaced that have no generic plan as they stand.

    >>> for_generic_plan("SELECT * FROM t WHERE id = ANY (ARRAY[$1, $2])")
    'SELECT * FROM t WHERE id IN ($1, $2)'
    """
    query = _ANY_ARRAY.sub(_as_list, query)
    query = _TYPED_CONSTANT.sub(r"CAST(\g<parameter> AS \g<type>)", query)
    return _EXTRACT.sub("extract(epoch FROM", query)


def _as_list(match: re.Match[str]) -> str:
    key = match["operator"], match["quantifier"].lower()
    if key not in _LISTS:
        return match[0]
    parameters = match["list"]
    # A list of one is a comparison with one value, which is another plan.
    if "," not in re.sub(r"/\*.*?\*/", "", parameters):
        parameters += ", " + parameters
    return f" {_LISTS[key]} ({parameters})"
