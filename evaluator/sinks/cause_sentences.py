"""A cause as a sentence, from its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model import Cause, CauseKind, Deploy, Shift, Subject

_OWN_MEASURES = {
    CauseKind.CALL_RATE: "calls of the query per second",
    CauseKind.ROWS_PER_CALL: "rows per call",
    CauseKind.BLOCKS_PER_CALL: "blocks per call",
}
# Shorter than this from the moment is at the moment, minutes.
_AT_ONCE = 0.05


def with_sentences(
    causes: Iterable[Cause], subject: Subject
) -> Iterator[tuple[Cause, str]]:
    """Each cause with its sentence; of those that read the same only the first."""
    seen = set()
    for cause in causes:
        sentence = cause_sentence(cause, subject)
        if sentence not in seen:
            seen.add(sentence)
            yield cause, sentence


def cause_sentence(cause: Cause, subject: Subject) -> str:
    """What speaks for *cause*, without a full stop; times are relative to *subject*."""
    if cause.stored_text:
        return cause.stored_text
    kind, shift = cause.kind, cause.shift
    if kind is CauseKind.COMMON_SHIFT and cause.factor is not None:
        return _common_shift(cause, cause.factor) + _waiting(cause)
    if kind is CauseKind.RESTART and cause.at is not None:
        return _restart(cause, _when(cause.at, subject))
    if cause.deploy is not None and cause.distance is not None:
        return _other_deploy(cause.deploy, cause.distance, subject)
    if shift is not None and kind is CauseKind.CONTEXT:
        return _context(cause, shift, subject)
    if shift is not None:
        return _own_measure(cause, shift, subject)
    raise ValueError(f"a cause without its values: {cause}")


def _common_shift(cause: Cause, factor: float) -> str:
    if cause.others is None:
        return (
            f"the queries of the server share an abrupt rise by a factor {factor:.2f}"
        )
    return (
        f"{cause.slower} of {cause.others} other queries of the server got slower by "
        f"more than half as much, too (median factor {factor:.2f})"
    )


def _restart(cause: Cause, when: str) -> str:
    if cause.another_server:
        return f"another server answers, first seen {when}"
    return f"the server restarted {when}"


def _other_deploy(other: Deploy, distance: float, subject: Subject) -> str:
    name = " ".join(filter(None, (other.service, other.version))) or other.id
    return (
        f"another deploy, {name}, {_when(other.at, subject)}, "
        f"{distance / 60:.1f} min from the change"
    )


def _context(cause: Cause, shift: Shift, subject: Subject) -> str:
    changed = f"{cause.measure} changed {_from_to(shift, subject)}"
    if not cause.may_follow:
        return changed + _waiting(cause)
    return f"{changed}; may follow from the query, which does more work itself per call"


def _own_measure(cause: Cause, shift: Shift, subject: Subject) -> str:
    rose = shift.after > shift.before
    if cause.kind is CauseKind.CALL_RATE:
        meaning = "" if rose else "; may follow from the longer wait"
    elif cause.kind is CauseKind.ROWS_PER_CALL:
        meaning = ": other data or other parameters"
    else:
        meaning = ": other data, parameters or plan, not contention"
    return (
        f"{_OWN_MEASURES[cause.kind]} {'rose' if rose else 'fell'} "
        f"{_from_to(shift, subject)}{meaning}"
    )


def _waiting(cause: Cause) -> str:
    if cause.blocks_unchanged:
        return ", while its blocks per call stayed the same"
    return ""


def _from_to(shift: Shift, subject: Subject) -> str:
    return f"{_when(shift.at, subject)} from {shift.before:.3g} to {shift.after:.3g}"


def _when(moment: float, subject: Subject) -> str:
    name = "deploy" if isinstance(subject, Deploy) else "drift"
    minutes = (moment - subject.at) / 60
    if abs(minutes) < _AT_ONCE:
        return f"at the {name}"
    return f"{abs(minutes):.1f} min {'after' if minutes > 0 else 'before'} the {name}"
