"""Judge deploys of every scene, in parallel, and print the table.

``python -m bench.scenes --quick`` in a minute; ``make bench-statistics`` in full.
"""

from __future__ import annotations

import os

# Before NumPy is loaded: one core for each process.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import argparse
from collections.abc import Sequence

from ..tables import table
from .catalogue import SCENES
from .figures import HEAD, examine_scenes, rows

# Deploys of a scene and a set of seeds.
DEPLOYS, QUICK = 40, 6
# Sets of seeds: one to tune on, and those that the documentation quotes.
TUNING, QUOTED = 0, (1, 2)
QUERIES, FEW_QUERIES = 1000, 200


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.scenes", description=__doc__)
    parser.add_argument("--scenes", nargs="+", default=list(SCENES), choices=SCENES)
    parser.add_argument("--deploys", type=int, help=f"of each scene; {DEPLOYS}")
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument(
        "--seed",
        type=int,
        nargs="+",
        default=[TUNING],
        help=f"sets of deploys; {TUNING} is for tuning, the documentation quotes "
        f"{QUOTED[0]} and {QUOTED[1]}",
    )
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} deploys each")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args(arguments)
    examined = examine_scenes(
        chosen.scenes,
        deploys=chosen.deploys or (QUICK if chosen.quick else DEPLOYS),
        seeds=chosen.seed,
        queries=chosen.queries,
        processes=chosen.processes,
    )
    print(table(HEAD, list(rows(examined))))
