"""A PostgreSQL that lives through the recording, round by round."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import requests

from lab import shop
from lab.postgres import MONITOR, Postgres
from lab.process import PATIENCE, wait_until
from lab.programs import Exporter
from lab.rounds import Rounds
from lab.timelapse import Scrapes
from lab.workload import SETTINGS, create_shop

from .jobs import AFTER, BEFORE, CHANGING, LOADS

# Before the first scrape: until each client has prepared each statement.
WARM_UP = 12


@dataclass(frozen=True, slots=True)
class Server:
    """A server with its clients, its exporter, and all that is scraped of it."""

    postgres: Postgres
    rounds: Rounds
    exporter: Exporter
    scrapes: list[Scrapes]

    def live(
        self, events: Mapping[int, Callable[[], object]] = {}, *, lost: int = 0
    ) -> None:
        """Live through all rounds.

        Args:
            events: what befalls the server before the round with this number.
            lost: how many calls that costs; others must not be lost.
        """
        for number in range(-WARM_UP, BEFORE + AFTER):
            if number == 0:
                # The exporter reads texts in the background.
                self.wait_for("^pgverdict_exporter_texts_missing 0$")
            if number in events:
                events[number]()
            self.rounds.run()
            if number >= 0:
                for each in self.scrapes:
                    each.take()
        assert self.rounds.lost == lost

    def wait_for(self, pattern: str) -> None:
        """Wait until the exporter's page holds what matches *pattern*."""
        page, wanted = f"{self.exporter.url}/metrics", re.compile(pattern, re.MULTILINE)
        wait_until(
            lambda: bool(wanted.search(requests.get(page, timeout=PATIENCE).text)),
            what=f"{pattern} on {page}",
        )

    def queryid(self, text: str) -> str:
        """Queryid of the statement whose text is like *text*."""
        rows = self.postgres.execute(
            f"SELECT queryid::text FROM pg_stat_statements WHERE query LIKE '{text}'"  # noqa: S608
        )
        ((queryid,),) = rows
        return str(queryid)


@contextmanager
def serving(job: str, flags: Sequence[str] = ()) -> Iterator[Server]:
    """A shop with the load of *job*, and an exporter that has these flags."""
    load = {**LOADS, **CHANGING}[job]
    with Postgres(settings=SETTINGS) as postgres:
        create_shop(postgres)
        postgres.create_monitor()
        # Only in the statements' own database, and by who may read its tables, can
        # plans be had.
        postgres.execute("CREATE EXTENSION pg_stat_statements", database=shop.DATABASE)
        postgres.execute(
            f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {MONITOR}",
            database=shop.DATABASE,
        )
        # What made the tables would only make the pages longer.
        postgres.execute("SELECT pg_stat_statements_reset()")
        dsn = postgres.dsn_for(shop.USER, shop.PASSWORD, shop.DATABASE)
        with (
            exporting(postgres, flags) as exporter,
            Rounds(
                dsn, load.statements, calls=load.calls, clients=load.clients
            ) as rounds,
        ):
            scrapes = [Scrapes(job, f"{exporter.url}/metrics")]
            yield Server(postgres, rounds, exporter, scrapes)


def exporting(postgres: Postgres, flags: Sequence[str] = ()) -> Exporter:
    """An exporter, to be started; it looks for new texts every second."""
    dsn = postgres.dsn_for(MONITOR, database=shop.DATABASE)
    return Exporter(dsn, flags=["--texts.interval=1s", *flags])
