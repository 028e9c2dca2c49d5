"""``power``: required sample size for a rise, at a noise given or measured."""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import structlog

from ..assembly import Systems
from ..backtest.power import noise_of, required_sample_size
from ..engine import usable_intervals
from ..errors import NoDataError
from ..model import Settings
from ..model.sample_size import Noise, SampleSize, SampleSizeTable
from ..settings.schema import EngineConfig, load
from ..sinks.sample_size import to_json, to_table
from ..sources.captures import Capture
from ..sources.profiles import PROFILES
from ..sources.readings import Reading
from .arguments import (
    PROGRAM,
    Commands,
    add_command,
    add_config,
    add_duration,
    add_engine,
    add_format,
    add_profile,
    reader,
)
from .output import say
from .selection import engine_with

log = structlog.get_logger()

RISES = (0.1, 0.2, 0.5)
# Queries that stand for all: this share of them is less noisy.
_KINDS = (("quiet query", 0.1), ("usual query", 0.5), ("noisy query", 0.9))
# The same simulated deploys every time, so that the figures can be compared.
_SEED = 1
_POSITIVE = "a number above 0 such as 0.3"


def add_power(commands: Commands) -> None:
    """Add the command ``power``."""
    parser = add_command(
        commands,
        "power",
        power,
        "Show how many calls and how long a window it takes to find +10, +20, +50 %.",
        "Exit codes: 0 done, 2 configuration or usage, 3 a system could not be reached "
        "or answered nonsense.",
        f"{PROGRAM} power --cv 0.3",
    )
    add_config(parser)
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--cv",
        type=_between(0.0, math.inf, _POSITIVE),
        metavar="X",
        help="noise: coefficient of variation of an interval's mean time per call; "
        "needs no server. Without it, the noise is measured in Prometheus",
    )
    source.add_argument(
        "--capture",
        metavar="FILE",
        help="measure the noise in a saved answer of Prometheus, as `replay` takes it",
    )
    parser.add_argument(
        "--calls",
        default=40.0,
        type=_between(0.0, math.inf, _POSITIVE),
        metavar="N",
        help="with --cv: calls in one interval; default %(default)g",
    )
    parser.add_argument(
        "--phi",
        default=0.0,
        type=_between(-1.0, 1.0, "a number between -1 and 1"),
        metavar="X",
        help="with --cv: correlation of neighbouring intervals; default %(default)g",
    )
    add_duration(
        parser,
        "--interval",
        "with --cv: time between two scrapes",
        default=60.0,
    )
    add_duration(
        parser,
        "--since",
        "how far back to measure in Prometheus; a change in that time counts as noise",
        default=14_400.0,
    )
    add_engine(parser)
    add_profile(parser)
    add_format(parser)


def power(options: argparse.Namespace) -> int:
    """Print the table of required sample sizes."""
    measured: list[Noise] = []
    unmeasured = 0
    if options.cv is not None:
        engine = EngineConfig()
        rows = [Noise(options.cv, options.phi, options.calls, options.interval)]
    else:
        engine, reading = _read(options)
        measured, unmeasured = _measure(reading, float(engine.max_gap))
        rows = _kinds(measured, unmeasured)
    settings = engine_with(engine, name=options.engine).settings()
    table = SampleSizeTable(
        engine=settings.engine,
        rows=tuple((noise, tuple(_row(noise, settings))) for noise in rows),
        measured=tuple(measured),
        unmeasured=unmeasured,
    )
    say(to_json(table) if options.format == "json" else to_table(table))
    return 0


def _read(options: argparse.Namespace) -> tuple[EngineConfig, Reading]:
    if options.capture is not None:
        capture = Capture(options.capture, PROFILES[options.profile])
        return EngineConfig(), capture.read()
    config = load(options.config_file)
    now = time.time()
    source = Systems(config, os.environ).prometheus_for("")
    return config.engine, source.read(now - options.since, now, detail_from=now)


def _measure(reading: Reading, max_gap: float) -> tuple[list[Noise], int]:
    """Noise of the measurable queries, the noisiest first; number of the others."""
    noises = [
        noise_of(query)
        for batch in reading.batches
        for query in usable_intervals(batch, max_gap=max_gap)
    ]
    measured = [noise for noise in noises if noise is not None]
    return sorted(measured, key=lambda noise: -noise.cv), len(noises) - len(measured)


def _kinds(measured: Sequence[Noise], unmeasured: int) -> list[Noise]:
    """A quiet, a usual and a noisy one of the measured queries."""
    if not measured:
        raise NoDataError(
            f"none of {unmeasured} queries has enough intervals to measure its noise; "
            "look further back with --since, or give the noise with --cv"
        )
    by_noise = measured[::-1]
    last = len(by_noise) - 1
    return [replace(by_noise[round(share * last)], name=name) for name, share in _KINDS]


def _row(noise: Noise, settings: Settings) -> Iterator[SampleSize]:
    for rise in RISES:
        log.info("simulating", engine=settings.engine, cv=f"{noise.cv:.2g}", rise=rise)
        rng = np.random.default_rng(_SEED)
        yield required_sample_size(noise, rise, settings, rng)


def _between(low: float, high: float, expected: str) -> Callable[[str], float]:
    """Read a number between the two bounds, neither included."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low < value < high:
            raise ValueError(f"expected {expected}, got {text!r}")
        return value

    return reader(read)
