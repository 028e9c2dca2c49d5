"""The recording as three kinds of servers keep it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lab import fetch, shop
from lab.history import import_samples, write_blocks
from lab.prometheus import Prometheus, query
from lab.timelapse import openmetrics, with_milliseconds
from lab.victoriametrics import VictoriaMetrics

from .jobs import JOBS
from .world import Truth, live

BACKENDS = ("prometheus-2", "prometheus-3", "victoria-metrics")
_BLOCKS, _VICTORIA, _TRUTH = "prometheus", "victoria-metrics", "truth.json"


def record(folder: Path) -> None:
    """Let everything happen; leave what the servers keep of it, and the truth."""
    world = live()
    write_blocks(openmetrics(world.scrapes, world.end), folder / _BLOCKS)
    with VictoriaMetrics(fetch.tool("victoria-metrics")) as victoria:
        import_samples(victoria, with_milliseconds(world.scrapes, world.end))
        victoria.stop()
        shutil.move(victoria.folder / "data", folder / _VICTORIA)
    truth = json.dumps(asdict(world.truth))
    (folder / _TRUTH).write_text(truth, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Recording:
    """What really happened, and servers to be asked about it.

    Args:
        folder: see `record`.
        backends: URLs by name.
    """

    folder: Path
    truth: Truth
    backends: Mapping[str, str]

    def config(self, backend: str, **sections: Any) -> dict[str, Any]:
        """A configuration that reads *backend* and knows each job as a service."""
        return {
            "prometheus": {"url": self.backends[backend]},
            "services": {
                job: f'job="{job}",datname="{shop.DATABASE}",user="{shop.USER}"'
                for job in JOBS
            },
            **sections,
        }


@contextmanager
def kept(folder: Path) -> Iterator[Recording]:
    """Servers of all three kinds with copies of what was recorded."""
    truth = Truth(**json.loads((folder / _TRUTH).read_text(encoding="utf-8")))
    servers: dict[str, Prometheus | VictoriaMetrics] = {
        "prometheus-2": remembering(
            folder, Prometheus(fetch.debian_tool("prometheus"))
        ),
        "victoria-metrics": VictoriaMetrics(fetch.tool("victoria-metrics")),
    }
    shutil.copytree(folder / _VICTORIA, servers["victoria-metrics"].folder / "data")
    if fetch.go() is not None:
        current = Prometheus(fetch.prometheus_3())
        servers["prometheus-3"] = remembering(folder, current)
    with ExitStack() as stack:
        for server in servers.values():
            stack.enter_context(server)
        backends = {name: server.url for name, server in servers.items()}
        yield Recording(folder, truth, backends)


def remembering(folder: Path, prometheus: Prometheus) -> Prometheus:
    """A Prometheus, not yet started, that remembers what was recorded."""
    shutil.copytree(folder / _BLOCKS, prometheus.folder / "data")
    return prometheus


def samples(url: str, metric: str, job: str) -> list[tuple[float, float]]:
    """Time and value of each sample of *metric*, which has one series.

    VictoriaMetrics also answers its marks of where a series paused; these are left out.
    """
    (series,) = query(url, f'{metric}{{job="{job}"}}[2h]')
    return [(float(at), float(v)) for at, v in series["values"] if v != "NaN"]
