"""What is fetched once is whole, or absent."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from lab.cache import cache_folder, once


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PGVERDICT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def write_slowly(folder: Path) -> None:
    with (folder.parent / "made").open("a", encoding="utf-8") as made:
        made.write("x")
    (folder / "content").write_text("whole", encoding="utf-8")


def make_and_read() -> None:
    content = once("thing", write_slowly) / "content"
    assert content.read_text(encoding="utf-8") == "whole"


def test_the_environment_chooses_the_folder(cache: Path) -> None:
    assert cache_folder() == cache
    assert cache.is_dir()


def test_processes_at_once_make_a_thing_once_and_all_get_it(cache: Path) -> None:
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=make_and_read) for _ in range(4)]

    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    assert (cache / "made").read_text(encoding="utf-8") == "x"


def test_a_failed_fetch_leaves_nothing_and_is_tried_again(cache: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "content").write_text("half", encoding="utf-8")
        raise OSError("network down")

    with pytest.raises(OSError, match="network down"):
        once("thing", fail)

    assert not (cache / "thing").exists()
    make_and_read()
