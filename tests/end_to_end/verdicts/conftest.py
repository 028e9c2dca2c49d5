"""What the command line says about the recording."""

from __future__ import annotations

from functools import cache

import pytest

from ..commands import evaluator, write
from ..recording.host import CONTEXT
from ..recording.jobs import WINDOW


@pytest.fixture(scope="session")
def configs(recording, tmp_path_factory):
    """A configuration file for each kind of server, by its name."""
    return {
        name: write(
            tmp_path_factory.mktemp(name), recording.config(name, context=CONTEXT)
        )
        for name in recording.backends
    }


@pytest.fixture(scope="session")
def judge(recording, configs):
    """Judge a job at some minutes after the deploy; each is judged once."""

    @cache
    def run(backend, job, *, after=0.0, window=WINDOW):
        return evaluator(
            *("deploy", "--at", f"{recording.truth.at + 60 * after:.3f}"),
            *("--service", job, "--window", f"{window:g}m", "--format", "json"),
            config=configs[backend],
        )

    return run


def detected(ended):
    """Queryids of what got slower."""
    return {
        queryid
        for queryid, query in ended.queries.items()
        if query["verdict"] == "detected"
    }
