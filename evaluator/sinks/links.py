"""Where people find the numbers, and what to do about them."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from ..model.report import Report

# The verdict is on /metrics from the moment it was made, and Prometheus looks back five
# minutes: so the link works at once, and for as long as Prometheus keeps its samples.
_AFTER_JUDGEMENT = 180.0


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses that alerts and annotations lead to, without a slash at their ends.

    Args:
        grafana: where people open Grafana.
        board: the same for what is read inside Grafana, where its path is enough.
        runbooks: the folder with a page for each alert.
    """

    grafana: str = ""
    board: str = ""
    runbooks: str = "alerts/runbooks"

    def dashboard(self, report: Report) -> str:
        """The dashboard as it showed *report* when the window had passed."""
        subject = report.subject
        shown = {
            "var-deploy": subject.id,
            "from": f"{(subject.at - report.settings.window) * 1000:.0f}",
            "to": f"{(report.judged_at + _AFTER_JUDGEMENT) * 1000:.0f}",
        }
        query = urlencode(shown, quote_via=quote)
        return f"{self.board}/d/pgverdict-deploys?{query}"


# Without any configuration.
RELATIVE = Links()
