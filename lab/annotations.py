"""Grafana's annotations as its legacy API keeps and finds them, traps included.

References:
    Grafana, pkg/services/annotations/annotationsimpl/xorm_store.go and
    pkg/services/tag: Add, Get, ParseTagPairs, JoinTagPairs.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any

Row = dict[str, Any]

DEFAULT_LIMIT = 100
TAGS_LENGTH = 500


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """Status and message of a refusal."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def tag_pairs(tags: Iterable[str]) -> list[tuple[str, str]]:
    """Keys and values as stored: cut at the second colon, trimmed, each once."""
    pairs = []
    for tag in tags:
        key, _, rest = tag.partition(":")
        pair = (key.strip(" "), rest.split(":")[0].strip(" "))
        if pair[0] and pair not in pairs:
            pairs.append(pair)
    return pairs


def stored_tags(tags: Iterable[str]) -> list[str]:
    """How *tags* read after they were stored."""
    return [f"{key}:{value}" if value else key for key, value in tag_pairs(tags)]


class Annotations:
    """The table of annotations of one organisation; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[int, Row] = {}
        self._last_id = 0

    def all(self) -> list[Row]:
        """Copies of all rows, in the order in which they were made."""
        with self._lock:
            return [dict(row) for row in self._rows.values()]

    def add(self, fields: Row) -> int:
        """Store what a POST holds; times in milliseconds."""
        if not fields.get("text"):
            raise Refused(400, "text field should not be empty")
        row = {
            "dashboardUID": fields.get("dashboardUID") or "",
            "panelId": fields.get("panelId") or 0,
            "text": fields["text"],
            "data": fields.get("data") or {},
            **_tags(fields.get("tags") or []),
            **_times(fields.get("time") or 0, fields.get("timeEnd") or 0),
        }
        now = _now()
        with self._lock:
            self._last_id += 1
            self._rows[self._last_id] = {
                "id": self._last_id,
                "alertId": 0,
                "created": now,
                "updated": now,
                **row,
            }
            return self._last_id

    def add_graphite(self, fields: Row) -> int:
        """Store the Graphite form: what, when in seconds, data, tags."""
        if not fields.get("what"):
            raise Refused(400, "what field should not be empty")
        tags = fields.get("tags") or []
        return self.add(
            {
                "text": "\n".join(filter(None, (fields["what"], fields.get("data")))),
                "time": (fields.get("when") or 0) * 1000,
                "tags": tags.split(" ") if isinstance(tags, str) else tags,
            }
        )

    def get(self, number: int) -> Row:
        with self._lock:
            if number not in self._rows:
                raise Refused(404, "Annotation not found")
            return dict(self._rows[number])

    def find(
        self,
        *,
        start: int = 0,
        end: int = 0,
        tags: Sequence[str] = (),
        match_any: bool = False,
        limit: int = 0,
        kind: str = "",
        dashboard: str = "",
    ) -> list[Row]:
        """Rows by their latest end; the time counts only when both ends are given."""
        found = [
            row
            for row in self.all()
            if (not (start > 0 and end > 0) or _overlaps(row, start, end))
            and _has_tags(row, tag_pairs(tags), match_any=match_any)
            and (not kind or (row["alertId"] > 0) == (kind == "alert"))
            and (not dashboard or row["dashboardUID"] == dashboard)
        ]
        found.sort(key=lambda row: (row["timeEnd"], row["time"]), reverse=True)
        return found[: limit or DEFAULT_LIMIT]

    def change(self, number: int, fields: Row, *, whole: bool) -> None:
        """PATCH what is given or, when *whole*, PUT all of text, times and tags."""
        row = self.get(number)
        if whole and not fields.get("text"):
            raise Refused(400, "text field should not be empty")
        if fields.get("text"):
            row["text"] = fields["text"]
        if whole or fields.get("tags") is not None:
            row |= _tags(fields.get("tags") or [])
        if whole or fields.get("time") or fields.get("timeEnd"):
            start = fields.get("time") or row["time"]
            row |= _times(start, fields.get("timeEnd") or max(start, row["timeEnd"]))
        with self._lock:
            self._rows[number] = {**row, "updated": _now()}

    def delete(self, number: int) -> None:
        """Remove one row; with number 0, all rows without dashboard and panel."""
        with self._lock:
            if number == 0:
                for row in list(self._rows.values()):
                    if not row["dashboardUID"] and not row["panelId"]:
                        del self._rows[row["id"]]
            elif self._rows.pop(number, None) is None:
                raise Refused(404, "Annotation not found")


def _now() -> int:
    return int(time.time() * 1000)


def _times(start: int, end: int) -> Row:
    start = start or _now()
    end = end or start
    return {"time": min(start, end), "timeEnd": max(start, end)}


def _tags(tags: Sequence[str]) -> Row:
    stored = stored_tags(tags)
    if len(json.dumps(stored, ensure_ascii=False, separators=(",", ":"))) > TAGS_LENGTH:
        raise Refused(500, "Failed to save annotation")
    return {"tags": stored}


def _overlaps(row: Row, start: int, end: int) -> bool:
    return bool(row["time"] <= end and row["timeEnd"] >= start)


def _has_tags(row: Row, asked: list[tuple[str, str]], *, match_any: bool) -> bool:
    """All-of counts the rows that match any, as the SQL does; so it misses some."""
    matching = sum(
        any(key == pair[0] and value in ("", pair[1]) for key, value in asked)
        for pair in tag_pairs(row["tags"])
    )
    if not asked:
        return True
    return matching > 0 if match_any else matching == len(asked)
