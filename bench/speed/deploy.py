"""One deploy over many queries: our ``deploy`` command beside curl and an older commit.

``python -m bench.speed.deploy``.

A real Prometheus holds five hours of counters, written as
its own blocks. curl asks for the same raw samples, one metric after the other, and
throws them away; what it needs is the server's part of the work. Then the command
judges the deploy with the default engine, and so does the one of an older commit, in
turn in the same run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import yaml

from lab import fetch
from lab.history import write_blocks
from lab.prometheus import Prometheus

from ..tables import against, circumstances, table

ROOT = Path(__file__).parents[2]
STEP = 15.0
HOURS = 5.0
COUNTERS = ("pg_stat_statements_calls_total", "pg_stat_statements_seconds_total")
# The commit before the queries travelled as one batch.
BEFORE = "26345a5"
WALL_GOAL, CPU_GOAL, MEMORY_GOAL = 1.5, 0.5, 400.0


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one command: seconds of wall and processor time, megabytes at the peak."""

    wall: float
    cpu: float
    peak: float


def samples(queries: int, at: float) -> Iterator[str]:
    """Five hours of both counters in OpenMetrics; the deploy half an hour before end.

    One query in a hundred gets half as slow again.
    """
    scrapes = int(HOURS * 3600 / STEP) + 1
    times = [f"{at + 1800.0 - STEP * back:.3f}" for back in reversed(range(scrapes))]
    for metric in COUNTERS:
        yield f"# TYPE {metric.removesuffix('_total')} counter\n"
        for query in range(queries):
            rng = np.random.default_rng([20261130, query])
            added = rng.poisson(40.0, scrapes).astype(float)
            if metric == COUNTERS[1]:
                added *= 0.01 * np.exp(0.3 * rng.standard_normal(scrapes))
                if query % 100 == 50:
                    added[-int(1800 / STEP) :] *= 1.5
            labels = (
                f'{metric}{{instance="db1:9719",datname="shop",user="app",'
                f'queryid="{query + 10**15}",toplevel="true"}}'
            )
            yield "".join(
                f"{labels} {value!r} {when}\n"
                for value, when in zip(np.cumsum(added).tolist(), times, strict=True)
            )
    yield "# EOF\n"


def cost(command: Sequence[str], folder: Path) -> Cost:
    """Run *command* in *folder* and measure it; its output is thrown away."""
    started = time.monotonic()
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None  # noqa: S101 - a pipe
    message = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    # A regression was detected, which is what the data hold.
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{command[0]} ended with {process.returncode}: {message!r}")
    wall = time.monotonic() - started
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def curl(url: str, end: float) -> Cost:
    """All raw samples by curl, one metric after the other."""
    span = int(HOURS * 3600 + 2 * STEP)
    costs = [
        cost(
            [
                *("curl", "--silent", "--fail", "--output", "/dev/null"),
                *("--data-urlencode", f"query={metric}[{span}s]"),
                *("--data-urlencode", f"time={end + STEP:.3f}"),
                f"{url}/api/v1/query",
            ],
            ROOT,
        )
        for metric in COUNTERS
    ]
    return Cost(
        sum(one.wall for one in costs),
        sum(one.cpu for one in costs),
        max(one.peak for one in costs),
    )


@contextmanager
def older(commit: str) -> Iterator[Path]:
    """The tree of *commit* in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="bench-deploy-") as folder:
        archive = subprocess.run(
            ["git", "archive", commit], cwd=ROOT, check=True, stdout=subprocess.PIPE
        )
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        yield Path(folder)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.speed.deploy", description=__doc__)
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beside", default=BEFORE, metavar="COMMIT")
    chosen = parser.parse_args(arguments)
    at = float(int(time.time() / 3600) * 3600 - 3600)
    print(circumstances(), flush=True)
    server = Prometheus(
        fetch.prometheus_3(), flags=["--storage.tsdb.retention.time=30d"]
    )
    write_blocks(samples(chosen.queries, at), server.folder / "data")
    with server, older(chosen.beside) as before:
        config = server.folder / "evaluator.yml"
        config.write_text(yaml.safe_dump({"prometheus": {"url": server.url}}))
        command = [
            *(sys.executable, "-m", "evaluator", "deploy", f"--at={at:.0f}"),
            *(f"--config.file={config}", "--format=json"),
        ]
        costs: dict[str, list[Cost]] = {"curl": [], "deploy": [], chosen.beside: []}
        for _ in range(chosen.rounds):
            costs["curl"].append(curl(server.url, at + 1800.0))
            costs["deploy"].append(cost(command, ROOT))
            costs[chosen.beside].append(cost(command, before))
    print(report(costs, chosen.queries, chosen.beside))


def report(costs: dict[str, list[Cost]], queries: int, beside: str) -> str:
    """Medians, and what is asked of them."""
    middle = {
        who: Cost(*(median(getattr(one, name) for one in found) for name in _FIGURES))
        for who, found in costs.items()
    }
    rows = [
        (
            who,
            f"{one.wall:.1f} s",
            f"{one.wall / middle['curl'].wall:.2f}×",
            f"{one.cpu:.1f} s",
            f"{one.cpu / middle[beside].cpu:.2f}×",
            f"{one.peak:.0f} MB",
        )
        for who, one in middle.items()
    ]
    ours = middle["deploy"]
    goals = [
        ("wall beside curl", ours.wall / middle["curl"].wall, WALL_GOAL),
        (f"CPU beside {beside}", ours.cpu / middle[beside].cpu, CPU_GOAL),
        ("peak memory, MB", ours.peak, MEMORY_GOAL),
    ]
    return "\n\n".join(
        (
            f"\n### {queries:,} queries, {HOURS:g} h every {STEP:g} s",
            table(["", "wall", "beside curl", "CPU", f"beside {beside}", "peak"], rows),
            table(
                ["", "measured", "goal", ""],
                [
                    (name, f"{was:.2f}", *against(was, goal))
                    for name, was, goal in goals
                ],
            ),
        )
    )


_FIGURES = ("wall", "cpu", "peak")


if __name__ == "__main__":
    main()
