"""Our exporter beside Debian's postgres_exporter, in front of a real PostgreSQL.

``python -m bench.speed.exporter``.

Both show the same columns of the same rows, which is
checked before anything is timed. They are scraped in turn, so that whatever else the
machine does meets both. A figure that misses its goal is printed as missed; that is a
finding, no failure.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import product
from statistics import median

from lab.postgres import Postgres
from lab.process import wait_until

from ..tables import against, circumstances, table
from .exporters import COUNTERS, Client, Theirs, ours, statement_samples
from .statements import fill

VERSION = "17"
NUMBERS = (2, 6, 12)
PLAIN_GOALS = {2: 0.4, 6: 0.3, 12: 0.25}
GZIP_GOALS = {2: 0.5, 6: 0.4, 12: 0.4}
MEMORY_GOAL = 60.0
FLAT_GOAL = 1.2
GROWTH_GOAL = 1.2
WARM_UP = 3
TEXTS = b"\npg_stat_statements_query_info{"
TEXT_SECONDS = 120


@dataclass(slots=True)
class Timed:
    """One exporter asked in one way, and how long each answer took, seconds."""

    client: Client
    gzip: bool
    took: list[float] = field(default_factory=list)
    size: int = 0

    def once(self) -> None:
        took, body = self.client.scrape(gzip=self.gzip)
        self.took.append(took)
        self.size = len(body)

    @property
    def milliseconds(self) -> str:
        return f"{1000 * min(self.took):.0f} / {1000 * self.median:.0f}"

    @property
    def median(self) -> float:
        return median(self.took)


def take_turns(all_timed: Sequence[Timed], rounds: int) -> None:
    """Ask each once a round, forwards and backwards by turns."""
    for number in range(WARM_UP + rounds):
        if number == WARM_UP:
            for timed in all_timed:
                timed.took.clear()
        for timed in all_timed if number % 2 else reversed(all_timed):
            timed.once()


@contextmanager
def filled(
    number: int, text_bytes: int = 0, capacity: int = 10_000
) -> Iterator[Postgres]:
    """A server that holds *number* statements and counts nothing more."""
    settings = {
        "pg_stat_statements.max": str(capacity),
        "pg_stat_statements.track_planning": "on",
        "track_io_timing": "on",
    }
    with Postgres(VERSION, settings=settings) as server:
        fill(server, number=number, text_bytes=text_bytes)
        yield server


def check_same(mine: bytes, other: bytes) -> int:
    """Number of series about statements, the same in both pages.

    Raises:
        RuntimeError: they differ, so that their times cannot be compared.
    """
    left, right = statement_samples(mine), statement_samples(other)
    if left != right or not left:
        differ = len(left.items() ^ right.items())
        raise RuntimeError(
            f"the pages differ in {differ} samples: {len(left)} are ours, "
            f"{len(right)} postgres_exporter's"
        )
    return len(left)


def beside(server: Postgres, numbers: Sequence[int], rounds: int) -> Iterator[str]:
    """Time both exporters, plain and packed, for each number of counters."""
    dsn = server.dsn_for(database="postgres")
    with ExitStack() as stack:
        timed: dict[tuple[int, bool, bool], Timed] = {}
        series = {}
        clients = []
        for number in numbers:
            counters = COUNTERS[:number]
            pair = []
            for program in (ours(dsn, counters), Theirs(dsn, counters)):
                client = Client(stack.enter_context(program))
                pair.append(stack.enter_context(client))
            pages = [client.scrape(gzip=False)[1] for client in pair]
            series[number] = check_same(*pages)
            clients.append(pair)
            for gzip, (side, client) in product((False, True), enumerate(pair)):
                timed[number, gzip, side == 0] = Timed(client, gzip)
        take_turns(list(timed.values()), rounds)
        yield _times(timed, series)
        yield _memory(numbers, clients)


def _times(timed: dict[tuple[int, bool, bool], Timed], series: dict[int, int]) -> str:
    rows = []
    for gzip, number in product((False, True), series):
        mine, other = timed[number, gzip, True], timed[number, gzip, False]
        ratio = mine.median / other.median
        goal = (GZIP_GOALS if gzip else PLAIN_GOALS)[number]
        rows.append(
            (
                f"{number}",
                "gzip" if gzip else "plain",
                f"{series[number]:,}",
                f"{mine.size / 1e6:.2f} / {other.size / 1e6:.2f}",
                mine.milliseconds,
                other.milliseconds,
                f"{ratio:.2f}×",
                *against(round(ratio, 2), goal),
            )
        )
    head = ["counters", "encoding", "series", "MB: ours / theirs", "ours, ms"]
    return table([*head, "theirs, ms", "ratio of medians", "goal", ""], rows)


def _memory(numbers: Sequence[int], clients: Sequence[Sequence[Client]]) -> str:
    rows = []
    for number, (mine, other) in zip(numbers, clients, strict=True):
        peak = mine.peak_memory()
        goal = against(round(peak), MEMORY_GOAL)
        rows.append((f"{number}", f"{peak:.0f}", f"{other.peak_memory():.0f}", *goal))
    return table(["counters", "ours, MB", "theirs, MB", "goal", ""], rows)


def text_sizes(small: Postgres, large: Postgres, rounds: int) -> str:
    """Time ours with short and long texts on the server, shown or not."""
    rows = []
    with ExitStack() as stack:
        kinds = list(product((False, True), (False, True)))
        timed = {}
        for texts, is_large in kinds:
            program = ours(
                (large if is_large else small).dsn, COUNTERS[:6], texts=texts
            )
            client = Client(stack.enter_context(program))
            timed[texts, is_large] = Timed(stack.enter_context(client), gzip=False)
            if texts:
                _wait_for_texts(client)
        take_turns(list(timed.values()), rounds)
        for texts in (False, True):
            short, long = timed[texts, False], timed[texts, True]
            ratio = long.median / short.median
            rows.append(
                (
                    "shown" if texts else "off",
                    short.milliseconds,
                    long.milliseconds,
                    f"{ratio:.2f}×",
                    *against(round(ratio, 2), FLAT_GOAL),
                    f"{long.client.peak_memory():.0f}",
                )
            )
    head = ["texts", "short, ms", "long, ms", "ratio of medians", "goal", ""]
    return table([*head, "peak with long texts, MB"], rows)


def _wait_for_texts(client: Client) -> None:
    wait_until(
        lambda: TEXTS in client.scrape(gzip=False)[1],
        seconds=TEXT_SECONDS,
        what="texts shown",
    )


def growth(
    few: Postgres,
    many: Postgres,
    statements: tuple[int, int],
    numbers: Sequence[int],
    rounds: int,
) -> str:
    """Time ours with few and with many statements; cost per statement."""
    rows = []
    with ExitStack() as stack:
        timed = {}
        for number, (which, server) in product(numbers, enumerate((few, many))):
            program = ours(server.dsn, COUNTERS[:number])
            client = Client(stack.enter_context(program))
            timed[number, which] = Timed(stack.enter_context(client), gzip=False)
        take_turns(list(timed.values()), rounds)
        for number in numbers:
            small, large = timed[number, 0], timed[number, 1]
            each = [
                1e6 * t.median / n
                for t, n in zip((small, large), statements, strict=True)
            ]
            ratio = each[1] / each[0]
            rows.append(
                (
                    f"{number}",
                    small.milliseconds,
                    large.milliseconds,
                    f"{each[0]:.1f} / {each[1]:.1f}",
                    f"{ratio:.2f}×",
                    *against(round(ratio, 2), GROWTH_GOAL),
                    f"{large.client.peak_memory():.0f}",
                )
            )
    head = [
        "counters",
        f"{statements[0]:,}, ms",
        f"{statements[1]:,}, ms",
        "µs a statement",
    ]
    return table([*head, "ratio", "goal", "", "peak with many, MB"], rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.speed.exporter", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--counters", type=int, nargs="+", default=NUMBERS)
    parser.add_argument("--statements", type=int, default=5_000)
    parser.add_argument("--many", type=int, default=49_900)
    parser.add_argument("--megabytes", type=int, default=150, help="of long texts")
    chosen = parser.parse_args(arguments)
    number, many, rounds = chosen.statements, chosen.many, chosen.rounds
    print(circumstances())
    with filled(number) as small:
        print(f"\n### {number:,} statements, PostgreSQL {VERSION}, {rounds} rounds")
        print("\nTimes: least / median. Memory: the most ever held.")
        for found in beside(small, chosen.counters, rounds):
            print(f"\n{found}", flush=True)
        with filled(number, chosen.megabytes * 1_000_000 // number) as large:
            print(f"\n### 6 counters, short texts and {chosen.megabytes} MB of texts\n")
            print(text_sizes(small, large, rounds), flush=True)
        with filled(many, capacity=max(100, many + 100)) as full:
            print(f"\n### {number:,} and {many:,} statements\n")
            sizes, rounds = (number, many), max(3, rounds // 2)
            print(growth(small, full, sizes, chosen.counters, rounds), flush=True)


if __name__ == "__main__":
    main()
