"""What befalls each job, and the samples that it leaves."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

from lab import faults, shop
from lab.timelapse import STEP, Scrapes

from .host import Host
from .jobs import (
    AFTER,
    AFTERWARDS,
    AWAY,
    BEFALLS,
    BEFORE,
    FEW,
    LOADS,
    LONGER,
    rounds,
)
from .server import Server, exporting, serving

# From the last scrape before the deploy to the deploy, seconds.
_LATER = 3.2
_LISTING = "SELECT id, total, pg_sleep(%"
# Of every statement: the one that is slowed is among the cheapest.
_PLANS = ("--plans.enabled=true", "--plans.interval=1s", "--plans.number=40")


@dataclass(frozen=True, slots=True)
class Truth:
    """What really happened.

    Args:
        at: time of the deploy, Unix seconds.
        began: time of the first scrape.
        slowed: queryid of the statement that lost its index.
        longer: queryid of the statement that was asked for more rows.
        looked_up: queryid of the statement that is called many times as often.
        replaced, rewritten: queryids of one statement before and after the deploy.
        grown, dropped: queryids of the statement that took over, and from which.
    """

    at: float
    began: float
    slowed: str
    longer: str
    looked_up: str
    replaced: str
    rewritten: str
    grown: str
    dropped: str


@dataclass(frozen=True, slots=True)
class World:
    """What really happened, and all that was scraped; the last time at *end*."""

    truth: Truth
    scrapes: Sequence[Scrapes]
    end: float


def live() -> World:
    """Let everything happen, to all servers side by side."""
    lives = (
        *(_shop, _rows, _hosted, _quiet, _reset, _restart),
        *(_lookups, _rewritten, _moved),
    )
    with ThreadPoolExecutor(len(lives)) as pool:
        lived = [each.result() for each in [pool.submit(one) for one in lives]]
    end = float(int(time.time()))
    last_before = end - STEP * AFTER
    truth = Truth(
        at=last_before + _LATER,
        began=last_before - STEP * (BEFORE - 1),
        **{name: queryid for _, ids in lived for name, queryid in ids.items()},
    )
    return World(truth, [each for scrapes, _ in lived for each in scrapes], end)


# What was scraped, and queryids by their field of the truth.
_Lived = tuple[Sequence[Scrapes], Mapping[str, str]]


def _after(minutes: float) -> int:
    """The first round so many minutes after the deploy."""
    return BEFORE + rounds(minutes)


def _shop() -> _Lived:
    with serving("shop", _PLANS) as server:
        server.rounds.run()
        slowed = server.queryid("SELECT count(*), sum(total) FROM orders,%")
        plan = f'^pg_stat_statements_plan_info{{.*queryid="{slowed}".*'
        server.wait_for(plan + "Index Scan orders_store")

        def drop_the_index() -> None:
            server.postgres.execute(shop.DROP_INDEX, database=shop.DATABASE)
            server.wait_for(plan + "Seq Scan orders")

        server.live({_after(0): drop_the_index})
        return server.scrapes, {"slowed": slowed}


def _rows() -> _Lived:
    with serving("rows") as server:

        def ask_for_more() -> None:
            server.rounds.statements = (LONGER, *FEW)

        server.live({_after(0): ask_for_more})
        return server.scrapes, {"longer": server.queryid(_LISTING)}


def _hosted() -> _Lived:
    with serving("hosted") as server:
        host = Host(server.postgres)
        with faults.serving(host.page()) as machine, ExitStack() as stack:
            server.scrapes.append(Scrapes("machine", machine, {"instance": "hosted"}))
            server.live({_after(-2): lambda: stack.enter_context(host.overloaded())})
            return server.scrapes, {}


def _quiet() -> _Lived:
    with serving("quiet") as server, exporting(server.postgres) as second:
        server.scrapes.append(Scrapes("gap", f"{second.url}/metrics"))
        events: dict[int, Callable[[], object]] = {}
        for leaves, returns in AWAY:
            events |= {_after(leaves): second.stop, _after(returns): second.start}
        server.live(events)
        return server.scrapes, {}


def _reset() -> _Lived:
    with serving("reset") as server:

        def reset() -> None:
            server.postgres.execute("SELECT pg_stat_statements_reset()")

        server.live({_after(BEFALLS): reset})
        return server.scrapes, {}


def _restart() -> _Lived:
    with serving("restart") as server:
        down = _after(BEFALLS)
        server.live(
            {down: server.postgres.stop, down + 1: server.postgres.start},
            lost=LOADS["restart"].calls * len(FEW),
        )
        return server.scrapes, {}


def _lookups() -> _Lived:
    with serving("lookups") as server:
        _change(server, "lookups")
        return server.scrapes, {"looked_up": server.queryid("SELECT name, pg_sleep(%")}


def _rewritten() -> _Lived:
    with serving("rewritten") as server:
        _change(server, "rewritten")
        return server.scrapes, {
            "replaced": server.queryid("SELECT total, pg_sleep(%"),
            "rewritten": server.queryid("SELECT total, placed, pg_sleep(%"),
        }


def _moved() -> _Lived:
    with serving("moved") as server:
        _change(server, "moved")
        return server.scrapes, {
            "grown": server.queryid(_LISTING),
            "dropped": server.queryid("SELECT max(total), pg_sleep(%"),
        }


def _change(server: Server, job: str) -> None:
    """Live with other statements since the deploy."""

    def deploy() -> None:
        server.rounds.statements = AFTERWARDS[job]

    server.live({_after(0): deploy})
