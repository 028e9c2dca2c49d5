"""One scrape a second for an hour while PostgreSQL is restarted now and then.

``python -m bench.speed.soak --minutes 60``.

Statements come and go all the time, texts are
shown. Scrapes are lost when the exporter does not answer with a page, or says that
PostgreSQL is down while it is not.
"""

from __future__ import annotations

import argparse
import gzip
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from statistics import median

import psycopg

from lab.postgres import Postgres
from lab.programs import Exporter

from ..tables import circumstances, table
from .exporters import Client
from .statements import DATABASE, fill, statements

KEPT = 1_000
NEW_EACH_SECOND = 10
FLAT_MEGABYTES = 3.0
APPLICATION = "pgverdict_exporter"


@dataclass(frozen=True, slots=True)
class Asked:
    """One scrape: from when to when (time.monotonic), and what it answered."""

    begun: float
    ended: float
    up: bool


@dataclass(slots=True)
class Tally:
    """What was seen; megabytes of memory and open files at each scrape."""

    scrapes: list[Asked] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    connections: list[int] = field(default_factory=list)
    restarts: list[tuple[float, float]] = field(default_factory=list)

    def fell_into_restart(self, scrape: Asked) -> bool:
        return any(a <= scrape.ended and scrape.begun <= b for a, b in self.restarts)


def soak(server: Postgres, exporter: Exporter, *, seconds: int, every: float) -> Tally:
    """Scrape once a second, and meanwhile use and restart the server."""
    tally = Tally()
    new = statements()
    started = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        scraping = pool.submit(_scrape_on, exporter, tally, started, seconds)
        # Here and not there: the server would end with the thread that started it.
        while not scraping.done():
            begun = time.monotonic()
            if begun - started > every * (len(tally.restarts) + 1):
                server.restart()
                tally.restarts.append((begun, time.monotonic()))
            _use(server, new, tally)
            time.sleep(max(0.0, begun + 1 - time.monotonic()))
        scraping.result()
    return tally


def _scrape_on(exporter: Exporter, tally: Tally, started: float, seconds: int) -> None:
    with Client(exporter) as client:
        for second in range(seconds):
            time.sleep(max(0.0, started + second - time.monotonic()))
            begun = time.monotonic()
            up = _scrape(client, packed=bool(second % 2))
            tally.scrapes.append(Asked(begun, time.monotonic(), up))
            _look_at(exporter, tally)


def _scrape(client: Client, *, packed: bool) -> bool:
    try:
        _, body = client.scrape(gzip=packed)
    except (OSError, RuntimeError, HTTPException):
        return False
    return b"\npg_up 1\n" in (gzip.decompress(body) if packed else body)


def _look_at(exporter: Exporter, tally: Tally) -> None:
    process = Path(f"/proc/{exporter.process.pid}")
    pages = int((process / "statm").read_text(encoding="ascii").split()[1])
    tally.memory.append(pages * 4096 / 1e6)
    tally.files.append(len(list((process / "fd").iterdir())))


def _use(server: Postgres, new: Iterator[bytes], tally: Tally) -> None:
    """Run statements that are new to the server, and count who is connected."""
    dsn = server.dsn_for(database=DATABASE)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SET pg_stat_statements.track = 'top'")
        for _ in range(NEW_EACH_SECOND):
            connection.execute(next(new))
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s",
            (APPLICATION,),
        ).fetchone()
        tally.connections.append(row[0] if row else 0)


def summary(tally: Tally) -> str:
    """What was asked for beside what was found."""
    tenth = max(1, len(tally.memory) // 10)
    # The first tenth warms up: caches fill, all threads are used once.
    early = median(tally.memory[tenth : 2 * tenth])
    late = median(tally.memory[-tenth:])
    most = max(tally.connections)
    failed = [scrape for scrape in tally.scrapes if not scrape.up]
    lost = sum(not tally.fell_into_restart(scrape) for scrape in failed)
    took = [scrape.ended - scrape.begun for scrape in tally.scrapes if scrape.up]
    rows = [
        ("scrapes", f"{len(tally.scrapes):,}", "", ""),
        ("restarts of PostgreSQL", f"{len(tally.restarts)}", "", ""),
        ("reported as down", f"{len(failed) - lost}", "in restarts", ""),
        ("lost", f"{lost}", "0", _word(lost == 0)),
        ("connections at any time", f"{most}", "1", _word(most == 1)),
        (
            "memory, second and last tenth, MB",
            f"{early:.1f}, {late:.1f}",
            f"+{FLAT_MEGABYTES:g} at most",
            _word(late - early <= FLAT_MEGABYTES),
        ),
        ("memory at most, MB", f"{max(tally.memory):.1f}", "", ""),
        ("open files at most", f"{max(tally.files)}", "", ""),
        (
            "time of a scrape, median and most, ms",
            f"{1000 * median(took):.0f}, {1000 * max(took):.0f}",
            "",
            "",
        ),
    ]
    return table(["", "found", "goal", ""], rows)


def _word(reached: bool) -> str:  # noqa: FBT001 - says what it is
    return "reached" if reached else "**missed**"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.speed.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--restart-every", type=float, default=300, help="seconds")
    chosen = parser.parse_args(arguments)
    print(circumstances())
    settings = {"pg_stat_statements.max": str(KEPT)}
    with Postgres(settings=settings) as server:
        fill(server, number=KEPT // 2)
        with Exporter(server.dsn, flags=["--texts.interval=10s"]) as exporter:
            tally = soak(
                server,
                exporter,
                seconds=round(60 * chosen.minutes),
                every=chosen.restart_every,
            )
    print(f"\n### {chosen.minutes:g} minutes, one scrape a second\n")
    print(summary(tally))


if __name__ == "__main__":
    main()
