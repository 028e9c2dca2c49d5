"""The evaluator as a service, between a stand-in Grafana and recorded counters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from lab.grafana import Grafana
from lab.process import wait_until
from lab.programs import Evaluator

from ..commands import Metrics, must_be_fit_to_read
from ..recording.stored import Recording

_COMPLAINT = re.compile(
    r'msg="step failed" step=(\w+) about=(\S+) error="(.*)"$', re.MULTILINE
)


class Watch:
    """A running evaluator and the Grafana that it watches."""

    def __init__(self, grafana: Grafana, evaluator: Evaluator) -> None:
        self.grafana = grafana
        self.evaluator = evaluator

    @property
    def metrics(self) -> Metrics:
        """What it shows now."""
        return Metrics(self.evaluator.url)

    @property
    def log(self) -> str:
        """Its log so far, over all restarts."""
        return (self.evaluator.folder / "log").read_text(encoding="utf-8")

    def complaints(self, step: str) -> list[tuple[str, str]]:
        """What could not be done in *step*, and why, in the order of the log."""
        found = _COMPLAINT.findall(self.log)
        return [(about, why) for place, about, why in found if place == step]

    def verdicts(self, deploy: int | None = None) -> list[dict[str, Any]]:
        """The annotations that it wrote, about one deploy or about all."""
        wanted = "pgverdict" if deploy is None else f"pgverdict-deploy:grafana-{deploy}"
        return [one for one in self.grafana.annotations if wanted in one["tags"]]

    def errors(self, step: str) -> float:
        """Number of errors in *step*."""
        return self.metrics.value("errors_total", step=step)

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Poll until *condition*; the error shows the log."""
        try:
            wait_until(condition, what=what)
        except TimeoutError as error:
            raise AssertionError(f"{error}\n{self.log}") from error

    def wait_for_rounds(self, number: int = 2) -> None:
        """Wait until so many more rounds have come to their end."""

        def rounds() -> float:
            found = self.metrics.of("step_duration_seconds_count", step="round")
            return sum(count for _, count in found)

        enough = rounds() + number
        self.wait_for(lambda: rounds() >= enough, f"{number} more rounds")


@contextmanager
def watching(
    recording: Recording, grafana: Grafana, **prometheus: Any
) -> Iterator[Watch]:
    """An evaluator that looks several times a second.

    Args:
        grafana: may hold deploys already, and faults that the first round meets.
        prometheus: settings on top of the recording's.
    """
    token = grafana.add_token("Editor")
    config = recording.config(
        "prometheus-2",
        grafana={"url": grafana.url, "timeout": "30s"},
        service={"poll_interval": "200ms", "settle": "1s", "lookback": "2h"},
    )
    config["prometheus"] |= prometheus
    environment = {"PGVERDICT_GRAFANA_TOKEN": token}
    with Evaluator(config, environment=environment) as evaluator:
        watch = Watch(grafana, evaluator)
        yield watch
        must_be_fit_to_read(watch.log, token)
