"""Generic plans: which statements can be explained; plan → outline and identity. Pure.

The identity changes when the plan does and not with costs, row counts or constants: it
is made of node types, relations, indexes, the structure of joins and the sort keys.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .labels import inside
from .snapshot import StatementKey

# EXPLAIN (GENERIC_PLAN) came with it.
OLDEST_SERVER = 16
LONGEST_OUTLINE = 1000
_ID_DIGITS = 16
# What of a node is its identity, besides its place in the tree.
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


class Skipped(StrEnum):
    """Why a statement has no plan; values of a label."""

    SERVER_TOO_OLD = "server_too_old"
    OTHER_DATABASE = "other_database"
    NO_TEXT = "no_text"
    NOT_EXPLAINABLE = "not_explainable"
    NO_PRIVILEGE = "no_privilege"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is shown of a plan.

    Args:
        plan_id: 16 hexadecimal digits.
        outline: for a person to read, such as ``Limit > Sort > Seq Scan orders``.
    """

    plan_id: str
    outline: str

    @property
    def labels(self) -> str:
        """Labels without braces."""
        return inside(("plan_id", self.plan_id), ("plan", self.outline))


@dataclass(frozen=True, slots=True)
class Plans:
    """What the newest round found.

    Args:
        labels: labels ``plan_id`` and ``plan``, without braces.
        skipped: statements without a plan, by reason.
        at: when it ended, Unix time; 0 before the first.
    """

    labels: Mapping[StatementKey, str]
    skipped: Mapping[Skipped, int]
    at: float = 0.0


def explainable(query: str) -> bool:
    """Whether *query* is exactly one statement that has a plan.

    It decides what is sent to the server behind the word EXPLAIN, so a parser judges,
    not a pattern. A statement too deep for it is none: its trees as objects would
    overrun the thread's stack, the text of the tree cannot.
    """
    # Only when plans are asked for: the parser takes 5 MB.
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
    """SQL that asks for the generic plan of *query*; its schema names need VERBOSE."""
    options = "GENERIC_PLAN, VERBOSE, COSTS OFF, FORMAT JSON"
    return f"EXPLAIN ({options}) {query}"


def skipped_for(sqlstate: str) -> Skipped:
    """What an error of the server means for a plan. Codes: PostgreSQL, appendix A."""
    match sqlstate:
        case "42501":
            return Skipped.NO_PRIVILEGE
        case "42P01" | "42703" | "42883" | "42704" | "3F000":
            return Skipped.NOT_FOUND
        case "57014" | "55P03":
            return Skipped.TIMEOUT
        case _:
            return Skipped.FAILED


def plan_of(explained: Any) -> Plan:
    """Read what EXPLAIN (FORMAT JSON) answered.

    Raises:
        ValueError: it is no plan: a rule may leave nothing of a statement, or NOTIFY.
    """
    try:
        root = explained[0]["Plan"]
        identity = json.dumps(list(_identity(root)))
        outline = _outline(root)
    except (LookupError, TypeError) as error:
        raise ValueError("this is no plan") from error
    digest = hashlib.sha256(identity.encode()).hexdigest()
    return Plan(digest[:_ID_DIGITS], _cut(outline))


def _identity(node: Node) -> Iterator[Any]:
    yield [[name, node[name]] for name in _IDENTITY if _tells(name, node)]
    for child in node.get("Plans", ()):
        yield list(_identity(child))


def _tells(name: str, node: Node) -> bool:
    """Temporary tables are in a schema numbered by session."""
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
