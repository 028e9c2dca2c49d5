"""Prometheus' JSON → raw series; the same for a live answer and a saved one (pure).

References:
    Prometheus documentation, HTTP API: "Format overview", "Range vectors".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec
import numpy as np

from ..errors import SourceError
from ..model import Flags, Floats
from ..transport.answers import Answer


@dataclass(frozen=True, slots=True, eq=False)
class RawSeries:
    """One series as stored: times in Unix seconds, strictly ascending.

    Args:
        conflicts: times at which it had two different values, and so has none.
    """

    labels: Mapping[str, str]
    times: Floats
    values: Floats
    conflicts: int = 0

    @property
    def name(self) -> str:
        return self.labels.get("__name__", "")


class Envelope(msgspec.Struct):
    """What every answer of the API has around its data."""

    status: str
    data: msgspec.Raw = msgspec.Raw(b"null")
    warnings: list[str] | None = None
    # What a cluster of VictoriaMetrics says instead of a warning.
    partial: bool = msgspec.field(default=False, name="isPartial")


class _Series(msgspec.Struct):
    # Native histograms come under another name and are left out.
    metric: dict[str, str]
    values: msgspec.Raw = msgspec.Raw(b"[]")


class _Data(msgspec.Struct):
    kind: str = msgspec.field(name="resultType")
    result: msgspec.Raw


class _Matrix(msgspec.Struct):
    kind: str = msgspec.field(name="resultType")
    result: list[_Series]


class _Answer(msgspec.Struct):
    """The usual answer as a whole, so that its bytes are looked at once."""

    status: str
    data: _Matrix
    warnings: list[str] | None = None
    partial: bool = msgspec.field(default=False, name="isPartial")


_ANSWER = msgspec.json.Decoder(_Answer)
_NUMBERS = msgspec.json.Decoder(list[float])
_TEXTS = msgspec.json.Decoder(list[tuple[float, str]])
_PUNCTUATION, _DIGITS = b'[]"', b"0123456789.eE+-"
# VictoriaMetrics keeps about 12 digits, and others of the same value in another block.
_LOST = 1e-11
# A sample and the comma behind it, without the digits.
_SAMPLE = b'[,""],'


def open_envelope(answer: Answer) -> tuple[msgspec.Raw, tuple[str, ...]]:
    """The data of *answer* and its warnings.

    Raises:
        SourceError: not such JSON, or it reports an error.
    """
    envelope = answer.json(Envelope)
    if envelope.status != "success":
        raise answer.error("an error")
    return envelope.data, _warnings(envelope)


def _warnings(envelope: Envelope | _Answer) -> tuple[str, ...]:
    partial = ["the server says that its answer is partial"] if envelope.partial else []
    return (*(envelope.warnings or ()), *partial)


def decode_matrix(answer: Answer) -> tuple[Iterator[RawSeries], tuple[str, ...]]:
    """The raw series in *answer*, one by one, and its warnings.

    Raises:
        SourceError: as :func:`open_envelope`, or other data than raw samples; while the
            series are read, too.
    """
    try:
        whole = _ANSWER.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _unusual(answer)
    if whole.status != "success" or whole.data.kind != "matrix":
        return _unusual(answer)
    return _series(whole.data.result, answer), _warnings(whole)


def _unusual(answer: Answer) -> tuple[Iterator[RawSeries], tuple[str, ...]]:
    """Find out what is wrong, or at least unusual, step by step."""
    raw, warnings = open_envelope(answer)
    try:
        data = msgspec.json.decode(raw, type=_Data)
    except msgspec.ValidationError as error:
        raise answer.error(f"data of an unexpected shape ({error})") from error
    if data.kind != "matrix":
        raise SourceError(
            f"{answer.where}: answered a {data.kind} instead of a matrix; raw samples "
            "are needed: a range selector such as metric[1h] in /api/v1/query, on a "
            "server that returns them"
        )
    try:
        series = msgspec.json.decode(data.result, type=list[_Series])
    except msgspec.ValidationError as error:
        raise answer.error(f"series of an unexpected shape ({error})") from error
    return _series(series, answer), warnings


def _series(found: list[_Series], answer: Answer) -> Iterator[RawSeries]:
    shared: dict[tuple[int, float], Floats] = {}
    for series in found:
        times, values = _samples(series, answer)
        conflicts = 0
        known = shared.get(_outline(times))
        if known is None or not np.array_equal(times, known):
            steps = np.diff(times)
            if not np.all(steps >= 0):
                raise SourceError(
                    f"{answer.where}: the samples of {series.metric} are not in the "
                    "order of time"
                )
            if not np.all(steps > 0):
                times, values, conflicts = once(times, values)
            known = shared.get(_outline(times))
        if known is None or not np.array_equal(times, known):
            known = shared[_outline(times)] = times
        # What was scraped together shares its times, as one array.
        yield RawSeries(series.metric, known, values, conflicts)


def _outline(times: Floats) -> tuple[int, float]:
    return times.size, float(times[-1]) if times.size else 0.0


def once(times: Floats, values: Floats) -> tuple[Floats, Floats, int]:
    """The same samples with each time once.

    VictoriaMetrics keeps what is sent twice. Equal values are one sample, and so are a
    number and NaN; of different numbers nobody knows which is right, so that time has
    none.

    Args:
        times: (n,) Unix seconds, ascending, some of them repeated.
        values: (n,)

    Returns:
        Times, strictly ascending, their values, and at how many times they differed.
    """
    first = np.flatnonzero(np.diff(times, prepend=-np.inf) > 0)
    group = np.repeat(np.arange(first.size), np.diff(first, append=times.size))
    lowest, highest = np.fmin.reduceat(values, first), np.fmax.reduceat(values, first)
    differ = ~(np.isnan(lowest) | same_value(lowest, highest))
    # The first number of each group; NaN where there is none.
    numbers = np.flatnonzero(~np.isnan(values))
    kept = values[first]
    kept[group[numbers[::-1]]] = values[numbers[::-1]]
    return times[first][~differ], kept[~differ], int(np.count_nonzero(differ))


def same_value(one: Floats, other: Floats) -> Flags:
    """Where two values are one, apart from the digits that a storage loses."""
    with np.errstate(invalid="ignore"):  # inf − inf
        near = np.abs(one - other) <= _LOST * np.abs(one)
    same: Flags = near | (one == other)
    return same


def _samples(series: _Series, answer: Answer) -> tuple[Floats, Floats]:
    """Times and values of ``[[1700000000.5,"42"],…]``.

    With the brackets and quotes gone it is a plain list of numbers, which is decoded
    several times as fast as pairs of a number and a text. With the digits gone instead,
    what is left shows that every sample is such a pair.
    """
    text = bytes(series.values)
    frame = text.translate(None, _DIGITS)
    count = (len(frame) - 1) // len(_SAMPLE)
    try:
        if frame == b"[" + (_SAMPLE * count)[:-1] + b"]":
            numbers = _NUMBERS.decode(b"[" + text.translate(None, _PUNCTUATION) + b"]")
            pairs = np.fromiter(numbers, np.float64, 2 * count).reshape(-1, 2)
            return pairs[:, 0].copy(), pairs[:, 1].copy()
    except msgspec.DecodeError:
        pass
    return _slowly(series, answer)


def _slowly(series: _Series, answer: Answer) -> tuple[Floats, Floats]:
    """The same for values such as NaN and +Inf, or to find out what is wrong."""
    try:
        samples = _TEXTS.decode(series.values)
    except msgspec.DecodeError as error:
        raise answer.error(f"series of an unexpected shape ({error})") from error
    try:
        pairs = np.array(
            [(time, float(value)) for time, value in samples], dtype=np.float64
        ).reshape(-1, 2)
    except ValueError as error:
        raise SourceError(
            f"{answer.where}: a sample of {series.metric} is not a number"
        ) from error
    return pairs[:, 0].copy(), pairs[:, 1].copy()
