"""The machine's processors: kept busy, and shown as metrics."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lab.faults import Handler, Request

MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
# In PromQL, for an evaluator's ``context``. On a machine that is busy anyway, only the
# second can rise.
CONTEXT = {
    "processor time": "sum without (mode)"
    ' (rate(node_cpu_seconds_total{mode!="idle"}[1m]))',
    "processor time of the batch": "sum without (groupname)"
    ' (rate(namedprocess_namegroup_cpu_seconds_total{groupname="batch"}[1m]))',
}


class Batch:
    """Processes that only compute, and what two exporters would show of them."""

    def __init__(self) -> None:
        self._pids: list[int] = []

    @contextmanager
    def running(self, per_processor: int) -> Iterator[None]:
        """As many for each processor inside the block."""
        # The kernel ends them with us. Each leads a session, which the kernel may give
        # its share as a whole, as it may to each process of PostgreSQL.
        command = ["setpriv", "--pdeathsig", "KILL", sys.executable, "-I", "-S", "-c"]
        with ExitStack() as stack:
            for _ in range(per_processor * (os.cpu_count() or 1)):
                one = subprocess.Popen(
                    [*command, "while True: pass"], start_new_session=True
                )
                stack.callback(one.wait)
                stack.callback(one.kill)
                self._pids.append(one.pid)
            stack.callback(self._pids.clear)
            yield

    @property
    def seconds(self) -> float:
        """Processor time of those that run, 0 while none does."""
        fields = [
            Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2]
            for pid in self._pids
        ]
        return sum(sum(map(int, one.split()[11:13])) for one in fields) / _ticks()

    def page(self) -> type[Handler]:
        """What node_exporter and process-exporter would show."""
        batch = self

        class Page(Handler):
            def respond(self, request: Request) -> None:  # noqa: ARG002
                body = "\n".join([*_processors(), *batch._lines(), ""]).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Page

    def _lines(self) -> Iterator[str]:
        name = "namedprocess_namegroup_cpu_seconds_total"
        yield f"# TYPE {name} counter"
        yield f'{name}{{groupname="batch"}} {self.seconds!r}'


def _processors() -> Iterator[str]:
    """The first line of /proc/stat, see proc_stat(5)."""
    first = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
    yield "# TYPE node_cpu_seconds_total counter"
    for mode, value in zip(MODES, first.split()[1:], strict=False):
        yield f'node_cpu_seconds_total{{mode="{mode}"}} {int(value) / _ticks()!r}'


def _ticks() -> int:
    return os.sysconf("SC_CLK_TCK")
