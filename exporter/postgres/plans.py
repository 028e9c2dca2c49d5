"""Generic plans: which statements can be explained; plan → outline and identity. Pure.

The identity changes when the plan changes, and not with costs, row counts or constants:
it is made of node types, relations, indexes, the structure of joins and the sort keys.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..values.plan import Plan, Skipped

# The first version with EXPLAIN (GENERIC_PLAN).
OLDEST_SERVER = 16
LONGEST_OUTLINE = 1000
_ID_DIGITS = 16
# The fields of a node that make its identity, with its place in the tree.
_IDENTITY = (
    "Node Type",
    "Strategy",
    "Partial Mode",
    "Parent Relationship",
    "Join Type",
    "Operation",
    "Command",
    "Schema",
    "Relation Name",
    "Function Name",
    "CTE Name",
    "Index Name",
    "Scan Direction",
    "Sort Key",
    "Presorted Key",
    "Group Key",
    "Subplan Name",
)
_FIRST_KIND = re.compile(r'\{"version":\d+,"stmts":\[\{"stmt":\{"(\w+)"')
_EXPLAINABLE = ("SelectStmt", "InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt")

Node = Mapping[str, Any]


def explainable(query: str) -> bool:
    """Whether *query* is exactly one statement that has a plan.

    This decides what is sent to the server after the word EXPLAIN, so it takes a parser
    and not a pattern. A statement that is too deep for the parser does not count. The
    tree is read as text: as objects, a deep one would overflow the thread's stack.
    """
    # Imported only when plans are on: the parser takes 5 MB.
    from pglast.parser import ParseError, parse_sql_json, split

    try:
        if len(split(query, only_slices=True)) != 1:
            return False
        tree = parse_sql_json(query)
    except ParseError:
        return False
    kind = _FIRST_KIND.match(tree)
    return kind is not None and kind[1] in _EXPLAINABLE


def explain_sql(query: str) -> str:
    """SQL for the generic plan of *query*. VERBOSE adds the names of the schemas."""
    options = "GENERIC_PLAN, VERBOSE, COSTS OFF, FORMAT JSON"
    return f"EXPLAIN ({options}) {query}"


def skipped_for(sqlstate: str) -> Skipped:
    """Why an error of the server means no plan. Codes: PostgreSQL, appendix A."""
    match sqlstate:
        case "42501":
            return Skipped.NO_PRIVILEGE
        case "42P01" | "42703" | "42883" | "42704" | "3F000":
            return Skipped.NOT_FOUND
        # Indeterminate or mismatched types, ambiguous functions and operators, a
        # parameter where the grammar takes a constant.
        case "42P18" | "42804" | "42725" | "42846" | "42601":
            return Skipped.NO_GENERIC_PLAN
        case "57014" | "55P03":
            return Skipped.TIMEOUT
        case _:
            return Skipped.FAILED


def plan_of(explained: Any) -> Plan:
    """Read the answer of EXPLAIN (FORMAT JSON).

    Raises:
        ValueError: it is not a plan: a rule may turn a statement into nothing, or
            into NOTIFY.
    """
    try:
        root = explained[0]["Plan"]
        identity = json.dumps(list(_identity(root)))
        outline = _outline(root)
    except (LookupError, TypeError) as error:
        raise ValueError("this is not a plan") from error
    digest = hashlib.sha256(identity.encode()).hexdigest()
    return Plan(digest[:_ID_DIGITS], _cut(outline))


def _identity(node: Node) -> Iterator[Any]:
    yield [[name, node[name]] for name in _IDENTITY if _identifies(name, node)]
    for child in node.get("Plans", ()):
        yield list(_identity(child))


def _identifies(name: str, node: Node) -> bool:
    """Not the schema of a temporary table: its name contains the session's number."""
    if name == "Schema" and str(node.get(name)).startswith("pg_temp"):
        return False
    return name in node


def _outline(node: Node) -> str:
    children = [_outline(child) for child in node.get("Plans", ())]
    name = _name(node)
    if not children:
        return name
    if len(children) == 1:
        return f"{name} > {children[0]}"
    return f"{name} ({', '.join(children)})"


def _name(node: Node) -> str:
    words = [str(node["Node Type"])]
    if words[0] == "Aggregate":
        strategy = {"Hashed": "Hash", "Sorted": "Group"}.get(node.get("Strategy", ""))
        words[0] = f"{strategy}Aggregate" if strategy else words[0]
    if words[0] == "ModifyTable":
        words[0] = str(node.get("Operation", words[0]))
    if node.get("Join Type", "Inner") != "Inner":
        words[0] = words[0].replace("Join", f"{node['Join Type']} Join")
    index, relation = node.get("Index Name"), node.get("Relation Name")
    if index:
        words.append(str(index))
    if relation:
        words.append(f"on {relation}" if index else str(relation))
    others = [node.get("Function Name"), node.get("CTE Name")]
    return " ".join([*words, *(str(other) for other in others if other)])


def _cut(outline: str) -> str:
    if len(outline) <= LONGEST_OUTLINE:
        return outline
    return outline[: LONGEST_OUTLINE - 1] + "…"
