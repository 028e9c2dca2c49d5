"""The machine's processors: shown as metrics, kept busy, and shared unequally."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lab.faults import Handler, Request
from lab.process import wait_until

# Behind everything else on the machine: mostly its like has to wait for it.
NICE = 5
MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
# In PromQL, for an evaluator's ``context``. On a machine that is busy anyway, only the
# second can rise.
CONTEXT = {
    "processor time": "sum without (mode)"
    ' (rate(node_cpu_seconds_total{mode!="idle"}[5s]))',
    "processes that want a processor": "node_procs_running",
}


class Page(Handler):
    """What node_exporter would show of the processors."""

    def respond(self, request: Request) -> None:  # noqa: ARG002
        body = "\n".join([*_lines(), ""]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _lines() -> Iterator[str]:
    """Exposition of /proc/stat; see proc_stat(5)."""
    ticks = os.sysconf("SC_CLK_TCK")
    for line in Path("/proc/stat").read_text(encoding="ascii").splitlines():
        name, *values = line.split()
        if name == "cpu":
            yield "# TYPE node_cpu_seconds_total counter"
            for mode, value in zip(MODES, values, strict=False):
                seconds = int(value) / ticks
                yield f'node_cpu_seconds_total{{mode="{mode}"}} {seconds!r}'
        if name == "procs_running":
            yield "# TYPE node_procs_running gauge"
            yield f"node_procs_running {values[0]}"


@contextmanager
def hogged(per_processor: int) -> Iterator[None]:
    """Some processes that only compute, and step back for everyone but their like."""
    # The kernel ends them with us. Each leads a session, which the kernel may give its
    # share as a whole, as it may to each process of PostgreSQL.
    command = ["setpriv", "--pdeathsig", "KILL", sys.executable, "-I", "-S", "-c"]
    with ExitStack() as stack:
        hogs = []
        for _ in range(per_processor * (os.cpu_count() or 1)):
            hog = subprocess.Popen(
                [*command, "while True: pass"], start_new_session=True
            )
            stack.callback(hog.wait)
            stack.callback(hog.kill)
            hogs.append(hog.pid)
        step_back(hogs)
        yield


def step_back(pids: Iterable[int]) -> None:
    """Let processes, each the leader of a session, stand behind all others."""
    for pid in pids:
        os.setpriority(os.PRIO_PROCESS, pid, NICE)
        # Where the kernel groups by session, only a group's own niceness counts:
        # sched(7). It may ask to be asked more slowly.
        group = Path(f"/proc/{pid}/autogroup")
        if group.exists():
            wait_until(lambda group=group: _is_written(group), seconds=10, what="nice")  # type: ignore[misc]


def _is_written(group: Path) -> bool:
    try:
        group.write_text(str(NICE), encoding="ascii")
    except BlockingIOError:
        return False
    return True
