"""``power``: what it takes to see a rise, at a noise given or measured."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import structlog

from ..assembly import Systems
from ..config import EngineConfig, load
from ..engine.intervals import interval_means
from ..engine.judge import judge
from ..engine.power import noise_of, price
from ..errors import NoDataError
from ..model import Settings
from ..model.price import Noise, Price, PriceList
from ..output import say
from ..selection import engine_with
from ..sinks.prices import to_json, to_table
from ..sources.captures import Capture
from ..sources.profiles import PROFILES
from ..sources.readings import Reading

log = structlog.get_logger()

RISES = (0.1, 0.2, 0.5)
# Which queries stand for all: by noise, this share of them is quieter.
_KINDS = (("quiet query", 0.1), ("usual query", 0.5), ("noisy query", 0.9))
# The same simulated deploys every time, so that the figures can be compared.
_SEED = 1


def power(options: argparse.Namespace) -> int:
    """Print the price list."""
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
    prices = PriceList(
        engine=settings.engine,
        rows=tuple((noise, tuple(_row(noise, settings))) for noise in rows),
        measured=tuple(measured),
        unmeasured=unmeasured,
    )
    say(to_json(prices) if options.format == "json" else to_table(prices))
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
    """Noise of each query that can be measured, the noisiest first, and the rest."""
    everything = interval_means(reading.series, -np.inf, np.inf, max_gap=max_gap)
    noises = list(map(noise_of, everything))
    measured = [noise for noise in noises if noise is not None]
    return sorted(measured, key=lambda noise: -noise.cv), len(noises) - len(measured)


def _kinds(measured: Sequence[Noise], unmeasured: int) -> list[Noise]:
    """A quiet, a usual and a noisy query of those that were measured."""
    if not measured:
        raise NoDataError(
            f"none of {unmeasured} queries has enough intervals to measure its noise; "
            "look further back with --since, or give the noise with --cv"
        )
    by_noise = measured[::-1]
    last = len(by_noise) - 1
    return [replace(by_noise[round(share * last)], name=name) for name, share in _KINDS]


def _row(noise: Noise, settings: Settings) -> list[Price]:
    found = []
    for rise in RISES:
        log.info("simulating", engine=settings.engine, cv=f"{noise.cv:.2g}", rise=rise)
        rng = np.random.default_rng(_SEED)
        found.append(price(noise, rise, settings, judge, rng))
    return found
