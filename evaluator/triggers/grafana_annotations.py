"""Deploys announced by annotations in Grafana."""

from __future__ import annotations

from collections.abc import Sequence

from ..grafana import Grafana
from .annotation_patterns import Matcher, read_marks, trigger_tags
from .port import Mark


class GrafanaAnnotations:
    """The trigger that reads annotations.

    Args:
        matchers: which annotations are deploys; the first that matches reads one.
    """

    name = "grafana"

    def __init__(self, grafana: Grafana, matchers: Sequence[Matcher]) -> None:
        self._grafana = grafana
        self._matchers = matchers

    def marks(self, start: float, end: float) -> list[Mark]:
        """See :class:`Trigger`."""
        annotations = self._grafana.find(start, end, trigger_tags(self._matchers))
        return read_marks(annotations, self._matchers)
