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
    "processor time of the batch": "sum without (groupname)"
    ' (rate(namedprocess_namegroup_cpu_seconds_total{groupname="batch"}[5s]))',
}


class Batch:
    """Processes that only compute, once they are let loose."""

    def __init__(self) -> None:
        self._pids: list[int] = []

    @contextmanager
    def running(self, per_processor: int) -> Iterator[None]:
        """Some for each processor, which step back for everyone but their like."""
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
            step_back(self._pids)
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
