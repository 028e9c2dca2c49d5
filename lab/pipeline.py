"""Marks deploys in Grafana, real or stand-in, as a delivery pipeline does."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from .grafana import Grafana
from .server import HTTP_SECONDS


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Speaks to a Grafana with a token that may write annotations.

    Args:
        kind: what it is, for a person.
    """

    url: str
    token: str
    kind: str

    def mark_deploy(self, tags: Sequence[str], text: str) -> tuple[int, float]:
        """Post an annotation for now; its id and its time, Unix seconds."""
        at = round(time.time(), 3)
        mark = {"time": round(at * 1000), "tags": list(tags), "text": text}
        return int(self._ask("POST", "", json=mark)["id"]), at

    def annotations(self, tag: str, start: float, end: float) -> list[dict[str, Any]]:
        """Annotations with *tag* that touch the time between two Unix times."""
        window = {"from": str(round(start * 1000)), "to": str(round(end * 1000))}
        asked = {**window, "tags": tag, "limit": "100"}
        found: list[dict[str, Any]] = self._ask("GET", "", params=asked)
        return found

    def one(self, number: int) -> dict[str, Any]:
        """The annotation with this id."""
        found: dict[str, Any] = self._ask("GET", f"/{number}")
        return found

    def _ask(self, method: str, path: str, **options: Any) -> Any:
        answer = requests.request(
            method,
            f"{self.url}/api/annotations{path}",
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=HTTP_SECONDS,
            **options,
        )
        answer.raise_for_status()
        return answer.json()


@contextmanager
def pipeline(environment: Mapping[str, str] = os.environ) -> Iterator[Pipeline]:
    """The Grafana that GRAFANA_URL names, with GRAFANA_TOKEN or GRAFANA_TOKEN_FILE.

    Without a URL: the stand-in.

    Raises:
        ValueError: a URL without a token.
    """
    if url := _url(environment):
        yield Pipeline(url, _token(environment), "Grafana")
        return
    with Grafana() as stand_in:
        yield Pipeline(stand_in.url, stand_in.add_token("Editor"), "stand-in Grafana")


def _url(environment: Mapping[str, str]) -> str:
    return environment.get("GRAFANA_URL", "").rstrip("/")


def _token(environment: Mapping[str, str]) -> str:
    if file := environment.get("GRAFANA_TOKEN_FILE"):
        return Path(file).read_text(encoding="utf-8").strip()
    if token := environment.get("GRAFANA_TOKEN"):
        return token
    raise ValueError(
        "GRAFANA_URL is set without a token: put one that may write annotations"
        " into GRAFANA_TOKEN or into the file that GRAFANA_TOKEN_FILE names"
    )
