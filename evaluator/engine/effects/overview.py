"""The whole effect of a deploy: which step finds what, and in which order.

rates and lives of the statements → load → what vanished → new statements, which may
replace some of it → call floods → costs that moved to what took over → improvements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from ...model import (
    Batch,
    CallFlood,
    Cause,
    Deploy,
    Effects,
    Floats,
    LoadChange,
    MeasureErrors,
    MovedCost,
    NewStatement,
    Outcome,
    QueryKey,
    Settings,
    SharedRise,
    Surroundings,
    Vanished,
)
from ..detectors.base import OUTCOME, Judged
from ..prepare.prepared import Prepared
from .call_floods import FloodTest, call_floods
from .cost_shift import moved_costs
from .improvements import improvements
from .lives import Lives, lives_of
from .load import load_change
from .measure import measure_errors
from .new_statements import new_statements, vanished_statements
from .rates import Rates, rates_of
from .shared_rises import shared_rises

T = TypeVar("T", NewStatement, MovedCost)


@dataclass(frozen=True, slots=True, eq=False)
class Server:
    """One server as the steps before leave it.

    Args:
        flood_q: (q,) q-values of the call rates, over means and rates of the deploy.
    """

    batch: Batch
    prepared: Prepared
    judged: Judged
    floods: FloodTest
    flood_q: Floats


@dataclass(frozen=True, slots=True)
class _Found:
    """The effects on one server, but what is a family over all of them."""

    load: LoadChange
    new: Sequence[NewStatement]
    vanished: Sequence[Vanished]
    floods: Sequence[CallFlood]
    moved: Sequence[MovedCost]
    errors: MeasureErrors
    shared: Sequence[SharedRise]


class Overview:
    """Looked for together, and only when asked for.

    Args:
        servers: ascending.
        end: of what is looked at, Unix seconds.
        causes: what may have slowed a query besides the deploy.
    """

    def __init__(
        self,
        servers: Sequence[Server],
        deploy: Deploy,
        end: float,
        settings: Settings,
        surroundings: Surroundings,
        causes: Callable[[QueryKey], Sequence[Cause]],
    ) -> None:
        self._causes = causes
        self._servers = servers
        self._deploy = deploy
        self._end = end
        self._settings = settings
        self._fingerprints = surroundings.fingerprints
        self._texts = surroundings.texts

    @cached_property
    def effects(self) -> Effects:
        """Over all servers."""
        at, settings = self._deploy.at, self._settings
        rates = [rates_of(one.batch, at, self._end, settings) for one in self._servers]
        found = [
            self._of(server, own)
            for server, own in zip(self._servers, rates, strict=True)
        ]
        return Effects(
            loads=tuple(one.load for one in found),
            new=_most([new for one in found for new in one.new]),
            vanished=tuple(
                sorted(
                    (gone for one in found for gone in one.vanished),
                    key=lambda gone: (-gone.before.load, gone.key),
                )
            ),
            floods=tuple(
                sorted(
                    (flood for one in found for flood in one.floods),
                    key=lambda flood: (-flood.share, flood.key),
                )
            ),
            moved=_most([moved for one in found for moved in one.moved]),
            improvements=tuple(
                improvements(
                    [
                        (server.prepared, server.judged, own)
                        for server, own in zip(self._servers, rates, strict=True)
                    ],
                    at,
                    settings,
                )
            ),
            errors=tuple(one.errors for one in found if _any(one.errors)),
            shared=tuple(rise for one in found for rise in one.shared),
        )

    def _of(self, server: Server, rates: Rates) -> _Found:
        settings, texts, at = self._settings, self._texts, self._deploy.at
        lives = self._lives(server.batch)
        vanished = vanished_statements(rates, lives, texts)
        new = new_statements(
            rates, lives, vanished, texts, notable_share=settings.notable_share
        )
        floods = call_floods(rates, server.floods, server.flood_q, texts, settings)
        replaced = {one.replaced.key for one in new if one.replaced is not None}
        risen = {*_detected(server), *(flood.key for flood in floods)}
        return _Found(
            load=load_change(rates, lives.since, lives.vanished),
            new=new,
            vanished=vanished,
            floods=floods,
            moved=moved_costs(
                rates,
                sorted(risen),
                [gone for gone in vanished if gone.key not in replaced],
                texts,
            ),
            errors=measure_errors(
                server.batch,
                lives.since,
                {*self._fingerprints, *texts},
                at - settings.window,
                self._end,
                settings,
            ),
            shared=shared_rises(
                server.prepared, server.judged, rates, settings, self._causes
            ),
        )

    def _lives(self, batch: Batch) -> Lives:
        return lives_of(
            batch,
            self._fingerprints,
            at=self._deploy.at,
            settled=min(self._deploy.end, self._end),
            end=self._end,
            settings=self._settings,
        )


def _detected(server: Server) -> list[QueryKey]:
    prepared, outcomes = server.prepared, server.judged.outcomes
    rows = prepared.rows[outcomes == OUTCOME[Outcome.DETECTED]]
    return [prepared.keys[row] for row in rows.tolist()]


def _most(found: Sequence[T]) -> tuple[T, ...]:
    """Most time since the deploy first."""
    return tuple(sorted(found, key=lambda one: (-one.after.load, one.key)))


def _any(errors: MeasureErrors) -> bool:
    counts = errors.reset, errors.evicted, errors.cut, errors.without_text
    return any(counts)
