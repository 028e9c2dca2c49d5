"""The calibrated rule: pre-filter → search and tolerance → whole-rule p → q-values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import (
    CALIBRATED,
    Check,
    Flags,
    Floats,
    Outcome,
    Places,
    Settings,
    SharedFactor,
    Stage,
    Verdict,
)
from ..noise.model import assess
from ..prepare.panel import panels
from ..prepare.prepared import Prepared
from ..prepare.reference import reference_of
from ..stats.bayes_factor import no_change_bound
from ..stats.multiple_testing import q_values, spent
from .base import (
    OUTCOME,
    STAGE,
    Detector,
    Judged,
    Significances,
    changes,
    stages_of,
)
from .checks import checks

# Half the width of a 95 % interval, in standard errors.
_WIDTH = 1.96


class Calibrated(Detector):
    """Learns the noise from history, and corrects for the number of queries."""

    method = CALIBRATED

    def judge(
        self,
        prepared: Sequence[Prepared],
        at: float,
        settings: Settings,
        look: int | None,
    ) -> list[Judged]:
        """See :class:`Detector`.

        All queries past the floors are one family of hypotheses; what was scraped
        together is one panel.
        """
        known = [_known(one, at, settings) for one in prepared]
        p = np.concatenate([one.p_value for one in known])
        if look is not None:
            p = spent(p, look)
        ends = np.cumsum([one.p_value.size for one in known])[:-1]
        return [
            _judge(one, noise, p_value, q_value, settings)
            for one, noise, p_value, q_value in zip(
                prepared,
                known,
                np.split(p, ends),
                np.split(q_values(p), ends),
                strict=True,
            )
        ]

    def explain(self, verdict: Verdict, settings: Settings) -> tuple[Check, ...]:
        """See :class:`Detector`."""
        levels = {"alert": settings.alpha, "watch": settings.watch}
        return checks(verdict, settings, {"family": levels})


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """The assessments of the panels of one server, as (s,) arrays."""

    p_value: Floats
    split_at: Floats
    statistic: Floats
    phi: Floats
    near: Flags
    log_error: Floats
    long_history: Flags
    by_dispersion: Flags
    transient: Flags
    common_rise: float
    factors: tuple[SharedFactor, ...]


def _known(prepared: Prepared, at: float, settings: Settings) -> _Known:
    reference = reference_of(prepared)
    assessed = [
        (
            members,
            assess(
                panel,
                at=at,
                window=settings.window,
                tolerance=settings.tolerance,
                searched=prepared.risen[members],
                reference=reference[members],
            ),
        )
        for members, panel in panels(
            prepared, reference | prepared.risen, at=at, window=settings.window
        )
    ]
    s = prepared.rows.size

    def gathered(name: str, *, unknown: Any = np.nan) -> NDArray[Any]:
        whole = np.full(s, unknown)
        for members, assessment in assessed:
            whole[members] = getattr(assessment, name)
        return whole

    rises = [part.common_rise for _, part in assessed if part.common_rise != 1.0]
    return _Known(
        # What did not rise is not a finding; its history is not needed.
        p_value=np.where(prepared.risen, gathered("p_value", unknown=1.0), 1.0),
        split_at=gathered("split_at"),
        statistic=gathered("statistic"),
        phi=gathered("phi"),
        near=gathered("near", unknown=False),
        log_error=gathered("log_error"),
        # Of what is not judged, as of what was scraped with it.
        long_history=gathered(
            "long_history", unknown=all(part.long_history for _, part in assessed)
        ),
        by_dispersion=gathered("by_dispersion", unknown=False),
        transient=gathered("transient", unknown=False),
        common_rise=rises[-1] if rises else 1.0,
        factors=tuple(
            replace(factor, members=members[factor.members])
            for members, part in assessed
            for factor in part.factors
        ),
    )


def _judge(
    prepared: Prepared,
    known: _Known,
    p_value: Floats,
    q_value: Floats,
    settings: Settings,
) -> Judged:
    outcomes, stages = stages_of(prepared)
    rows = np.flatnonzero(prepared.risen)
    means, present, starts = prepared.window_of(prepared.risen)
    moved = changes(
        _columns(present, starts, known.split_at[rows]),
        known.split_at[rows],
        known.statistic[rows],
        known.near[rows],
        means,
        present,
    )
    elsewhere = rows[~moved.near]
    outcomes[elsewhere] = OUTCOME[Outcome.BACKGROUND_CHANGE]
    stages[elsewhere] = STAGE[Stage.TOLERANCE]
    close = rows[moved.near]
    stages[close] = STAGE[Stage.FAMILY]
    outcomes[close[q_value[close] <= settings.alpha]] = OUTCOME[Outcome.DETECTED]
    significances = Significances(
        p_value=p_value,
        q_value=q_value,
        phi=known.phi,
        no_change_bound=no_change_bound(p_value, settings.prior),
        near=known.near,
        long_history=known.long_history,
        by_dispersion=known.by_dispersion,
        transient=known.transient,
        width=np.exp(_WIDTH * known.log_error),
    )
    return Judged(
        outcomes, stages, moved, significances, known.common_rise, known.factors
    )


def _columns(present: Flags, starts: Floats, split_at: Floats) -> Places:
    """(k,) the first usable interval of the right segment of each."""
    if not split_at.size:
        return np.empty(0, dtype=np.intp)
    columns: Places = (present & (starts >= split_at[:, None])).argmax(axis=1)
    return columns
