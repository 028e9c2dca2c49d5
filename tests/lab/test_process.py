"""Children are ready when started, and gone when we are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab.process import LaunchError, Process, free_port, wait_until

ROOT = Path(__file__).parents[2]


def sleeper(folder: Path, script: str = "echo up; exec sleep 60") -> Process:
    log = folder / "log"
    return Process(
        "sleeper",
        ["sh", "-c", script],
        log=log,
        ready=lambda: "up" in log.read_text(encoding="utf-8"),
        deadline=0.5,
    )


def gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").split()[2]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def test_a_started_process_is_alive_and_a_stopped_one_is_gone(tmp_path: Path) -> None:
    process = sleeper(tmp_path)

    with process.running():
        pid = process.pid
        assert process.alive()

    assert not process.alive()
    assert gone(pid)


def test_one_that_ends_too_early_is_reported_with_its_log(
    tmp_path: Path,
) -> None:
    process = sleeper(tmp_path, "echo no such setting; exit 3")

    with pytest.raises(LaunchError, match=r"ended with code 3\n  \| no such setting"):
        process.start()


def test_one_that_is_never_ready_is_reported_and_stopped(tmp_path: Path) -> None:
    process = sleeper(tmp_path, "echo $$; exec sleep 60")

    with pytest.raises(LaunchError, match=r"not ready within 0\.5 s"):
        process.start()

    assert gone(int(process.log.read_text(encoding="utf-8")))


def test_one_that_will_not_end_is_killed_with_its_children(tmp_path: Path) -> None:
    process = sleeper(tmp_path, "trap '' TERM; sleep 60 & echo $! up; wait; sleep 60")
    process.start()
    child = int(process.log.read_text(encoding="utf-8").split()[0])
    parent = process.pid

    process.stop()

    assert gone(parent)
    wait_until(lambda: gone(child), what="grandchild gone")


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_children_do_not_outlive_us_however_we_end(
    tmp_path: Path, end: signal.Signals
) -> None:
    script = (
        "import sys, time; from pathlib import Path\n"
        "from tests.lab.test_process import sleeper\n"
        f"with sleeper(Path({str(tmp_path)!r})).running() as process:\n"
        "    print('up', flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        (child,) = map(int, children.read_text(encoding="ascii").split())

        parent.send_signal(end)

    wait_until(lambda: gone(child), what="child gone")


def test_a_port_is_free_and_handed_out_once() -> None:
    ports = [free_port() for _ in range(50)]

    assert len(set(ports)) == 50


def test_waiting_ends_at_the_deadline_and_says_for_what() -> None:
    with pytest.raises(TimeoutError, match=r"the moon: not within 0\.1 s"):
        wait_until(lambda: False, seconds=0.1, what="the moon")


def test_our_own_process_group_is_not_the_childs(tmp_path: Path) -> None:
    with (process := sleeper(tmp_path)).running():
        assert os.getpgid(process.pid) != os.getpgrp()
