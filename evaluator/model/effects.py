"""What a deploy did besides making single queries slower: the whole effect, in values.

Rates are per second of observed time. Execution time per second is a load: 1.0 is one
session that always executes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .batch import QueryKey
from .estimate import Estimate
from .shared_rise import SharedRise


@dataclass(frozen=True, slots=True)
class Usage:
    """How often a statement ran on one side of the deploy, and what that took.

    Args:
        calls: per second.
        load: execution seconds per second.
    """

    calls: float
    load: float

    @property
    def mean(self) -> float | None:
        """Seconds per call; None without any."""
        return self.load / self.calls if self.calls > 0 else None


class LoadKind(StrEnum):
    """Where a change of a server's load comes from."""

    SLOWER_CALLS = "slower_calls"
    MORE_CALLS = "more_calls"
    NEW = "new_statements"
    VANISHED = "vanished_statements"


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one statement adds to a change of load, execution seconds per second."""

    key: QueryKey
    change: float


@dataclass(frozen=True, slots=True)
class LoadPart:
    """One part of a change of load.

    Args:
        change: execution seconds per second; below 0 for a fall.
        statements: number of statements that make this part.
        largest: those that move it most, either way, the largest first.
    """

    kind: LoadKind
    change: Estimate
    statements: int
    largest: tuple[Contribution, ...]


@dataclass(frozen=True, slots=True)
class LoadChange:
    """The load of one server before and after; the parts add up to the difference.

    Args:
        before, after: execution seconds per second.
        parts: one of each kind, in the order of the kinds.
    """

    server: str
    before: Estimate
    after: Estimate
    parts: tuple[LoadPart, ...]

    @property
    def change(self) -> float:
        """After less before, execution seconds per second."""
        return self.after.value - self.before.value


@dataclass(frozen=True, slots=True)
class Vanished:
    """A statement that ran until the deploy and not since.

    Args:
        last_called: end of the last interval in which it ran, Unix seconds.
        text: of the statement, as far as it is known.
    """

    key: QueryKey
    last_called: float
    before: Usage
    text: str = ""


@dataclass(frozen=True, slots=True)
class NewStatement:
    """A statement that was first seen at the deploy.

    Args:
        first_seen: first scrape that stored it, Unix seconds.
        share: of the server's execution time since the deploy.
        notable: whether the share is one that headline and alert name; never where it
            replaced another statement and the two together take no more time.
        replaced: a vanished statement that reads or writes the same tables.
        pair: change of load of the two together, where there is one.
        moved: whether that did not rise, so that the cost only moved to the new one.
    """

    key: QueryKey
    first_seen: float
    after: Usage
    share: float
    notable: bool
    text: str = ""
    replaced: Vanished | None = None
    pair: Estimate | None = None
    moved: bool = False


@dataclass(frozen=True, slots=True)
class CallFlood:
    """A statement that is called more often since the deploy than traffic explains.

    Args:
        before, after: both windows.
        factor: of its calls per second, the common factor of traffic taken out.
        traffic: factor by which the calls of the server's statements rose in common.
        p_value: chance, without a change, that the whole rule finds as much.
        q_value: false discovery rate at which the finding is kept, over the means and
            the call rates of all queries of the deploy.
        share: of the server's execution time since the deploy that the further calls
            take.
        notable: whether the share is one that headline and alert name.
    """

    key: QueryKey
    before: Usage
    after: Usage
    factor: Estimate
    traffic: float
    p_value: float
    q_value: float
    share: float
    notable: bool
    text: str = ""


@dataclass(frozen=True, slots=True)
class MovedCost:
    """A statement that got slower or is called more often because it replaced another.

    Args:
        key: the statement that takes more time.
        vanished: the one that it replaced.
        before, after: usage of *key*.
        change: of the load of the two together; it did not rise.
    """

    key: QueryKey
    vanished: Vanished
    before: Usage
    after: Usage
    change: Estimate


@dataclass(frozen=True, slots=True)
class Improvement:
    """A statement that got faster at the deploy.

    Args:
        before, after: both windows.
        factor: of its mean time per call, below 1.
        saved: execution seconds per second, by the calls after.
        q_value: false discovery rate at which the finding is kept; None by an engine
            that judges each query alone.
    """

    key: QueryKey
    before: Usage
    after: Usage
    factor: float
    saved: float
    q_value: float | None = None


@dataclass(frozen=True, slots=True)
class MeasureErrors:
    """What kept one server's statements from being measured, in both windows.

    Args:
        reset_at: end of the interval in which most statements lost their counters, Unix
            seconds; None if there was none.
        reset: statements that did then.
        evicted: other statements whose entry was made anew at least once.
        cut: of the statements that were seen, those whose series ended or had holes
            while the server was scraped: evicted, or cut by the exporter's limit.
        without_text: new statements whose text is not known, where others' are.
        statements: that were seen in the windows.
    """

    server: str
    reset_at: float | None = None
    reset: int = 0
    evicted: int = 0
    cut: int = 0
    without_text: int = 0
    statements: int = 0


@dataclass(frozen=True, slots=True)
class Effects:
    """The whole effect of one deploy, over all servers.

    Args:
        loads: one for each server, ascending.
        new, vanished: first seen, and last called, at the deploy; most time first.
        floods: those whose further calls take most time first.
        moved: most time first.
        improvements: those that save most first.
        errors: of the measure; servers without any are left out.
        shared: rises that many queries share; the costliest of a server first.
    """

    loads: tuple[LoadChange, ...] = ()
    new: tuple[NewStatement, ...] = ()
    vanished: tuple[Vanished, ...] = ()
    floods: tuple[CallFlood, ...] = ()
    moved: tuple[MovedCost, ...] = ()
    improvements: tuple[Improvement, ...] = ()
    errors: tuple[MeasureErrors, ...] = ()
    shared: tuple[SharedRise, ...] = ()

    @property
    def explained_keys(self) -> frozenset[QueryKey]:
        """Detected queries whose rise is not beyond one that many share."""
        return frozenset(key for one in self.shared for key in one.explained)

    @property
    def moved_keys(self) -> frozenset[QueryKey]:
        """Statements whose rise was only moved to them."""
        return frozenset(one.key for one in self.moved)

    @property
    def notable_new(self) -> tuple[NewStatement, ...]:
        """New statements that take a notable share of the time."""
        return tuple(one for one in self.new if one.notable)

    @property
    def notable_floods(self) -> tuple[CallFlood, ...]:
        """Call floods that take a notable share of the time and were not moved."""
        moved = self.moved_keys
        return tuple(f for f in self.floods if f.notable and f.key not in moved)
