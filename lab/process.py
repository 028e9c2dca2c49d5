"""A child process: started until it is ready, and gone when we are.

Each child leads a process group of its own, so that Ctrl-C reaches us first and we stop
the children in order; should we die without doing so, the kernel stops them.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

POLL_SECONDS = 0.02
# What is waited for comes within a second on an idle machine. This one may be busy.
PATIENCE = 120.0
_PORTS = range(20_000, 32_000)
_handed_out: set[int] = set()


class LaunchError(Exception):
    """A server did not become ready or ended too early; ends with its log's tail."""


def free_port() -> int:
    """A loopback port that nobody listens on; never the same twice in one process.

    Below the range from which the kernel takes the ports of outgoing connections, so
    that none of these can sit on it while its server is restarted.
    """
    rng = random.SystemRandom()
    for _ in range(1000):
        port = rng.choice(_PORTS)
        if port in _handed_out:
            continue
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        _handed_out.add(port)
        return port
    raise LaunchError("no free port on 127.0.0.1 between 20000 and 32000")


def wait_until(
    condition: Callable[[], bool], *, what: str, seconds: float = PATIENCE
) -> None:
    """Poll *condition* until it is true.

    Raises:
        TimeoutError: it was not within *seconds*; the text names *what*.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        time.sleep(POLL_SECONDS)


class Process:
    """One server program, startable again after it was stopped.

    Args:
        name: for errors.
        command: program and arguments.
        log: file that its stdout and stderr are appended to.
        ready: true once it answers; may raise OSError until then.
        environment: on top of our own.
        folder: where to start it; the current folder by default.
        user: numeric user and group to run it as, or None for our own.
        stop_signal: asks it to end; also sent by the kernel when we die.
        deadline: seconds to become ready, and seconds to end before it is killed.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        log: Path,
        ready: Callable[[], bool],
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        user: int | None = None,
        stop_signal: signal.Signals = signal.SIGTERM,
        deadline: float = PATIENCE,
    ) -> None:
        self._name = name
        self._command = [str(part) for part in command]
        self.log = log
        self._ready = ready
        self._environment = {**os.environ, **(environment or {})}
        self._folder = folder
        self._user = user
        self._stop_signal = stop_signal
        self._deadline = deadline
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Process id; a LaunchError when it does not run."""
        if self._child is None:
            raise LaunchError(f"{self._name} is not running")
        return self._child.pid

    def alive(self) -> bool:
        """Whether it was started and has not ended."""
        return self._child is not None and self._child.poll() is None

    def start(self) -> None:
        """Start and wait until ready.

        Raises:
            LaunchError: it ended, or was not ready in time; nothing is left running.
        """
        if self.alive():
            raise LaunchError(f"{self._name} runs already")
        as_user = [] if self._user is None else _as(self._user)
        guard = ["setpriv", "--pdeathsig", self._stop_signal.name[3:], *as_user]
        with self.log.open("ab") as log:
            self._child = subprocess.Popen(
                [*guard, *self._command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                cwd=self._folder,
                process_group=0,
            )
        try:
            wait_until(self._is_ready, seconds=self._deadline, what="ready")
        except TimeoutError as error:
            self.stop()
            raise LaunchError(
                f"{self._name} was not ready within {self._deadline:g} s\n{self.tail()}"
            ) from error
        except BaseException:
            self.stop()
            raise

    def _is_ready(self) -> bool:
        assert self._child is not None  # noqa: S101 - set by start
        if (code := self._child.poll()) is not None:
            raise LaunchError(f"{self._name} ended with code {code}\n{self.tail()}")
        try:
            return self._ready()
        except OSError:
            return False

    def stop(self) -> int | None:
        """Ask it to end, then make sure of its whole group; fine when it has ended.

        Returns:
            Its exit code, below 0 when a signal ended it; None where nothing was
            started.
        """
        self.send(self._stop_signal)
        return self._reap(self._deadline)

    def kill(self) -> None:
        """End it without a chance to tidy up."""
        self.send(signal.SIGKILL)
        self._reap(self._deadline)

    def send(self, which: signal.Signals) -> None:
        """Send a signal to the program itself, if it runs."""
        if self._child is not None and self._child.poll() is None:
            self._child.send_signal(which)

    def _reap(self, seconds: float) -> int | None:
        child, self._child = self._child, None
        if child is None:
            return None
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        finally:
            _kill_group(child.pid)
        return child.returncode

    def tail(self, lines: int = 20) -> str:
        """The last lines of its log."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return "\n".join(f"  | {line}" for line in text.splitlines()[-lines:])

    @contextmanager
    def running(self) -> Iterator[None]:
        """Started inside the block, stopped after it, whatever happens."""
        self.start()
        try:
            yield
        finally:
            self.stop()


def _as(user: int) -> list[str]:
    return [f"--reuid={user}", f"--regid={user}", "--clear-groups"]


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
