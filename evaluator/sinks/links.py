"""Where people find the numbers, and what to do about them."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from ..model.report import Report

# The verdict stands on /metrics from this moment on, and Prometheus looks back five
# minutes: so the link works at once, and as long as Prometheus keeps its samples.
_AFTER_JUDGEMENT = 180.0


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses that alerts and annotations lead to, without a slash at their ends.

    Args:
        grafana: where people open Grafana.
        board: the same for what is read inside of Grafana, where its path is enough.
        runbooks: the folder with a page for each alert.
    """

    grafana: str = ""
    board: str = ""
    runbooks: str = "alerts/runbooks"

    def dashboard(self, report: Report) -> str:
        """The dashboard as it showed *report* when the window had passed."""
        deploy = report.deploy
        shown = {
            "var-deploy": deploy.id,
            "from": f"{(deploy.at - report.settings.window) * 1000:.0f}",
            "to": f"{(report.judged_at + _AFTER_JUDGEMENT) * 1000:.0f}",
        }
        query = urlencode(shown, quote_via=quote)
        return f"{self.board}/d/pgverdict-deploys?{query}"


# What can be said without any configuration.
RELATIVE = Links()
