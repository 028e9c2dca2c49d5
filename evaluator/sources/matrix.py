"""Prometheus' JSON → raw series; the same for a live answer and a saved one (pure).

References:
    Prometheus documentation, HTTP API: "Format overview", "Range vectors".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import numpy as np

from ..errors import SourceError
from ..model import Floats
from ..transport.answers import Answer


@dataclass(frozen=True, slots=True, eq=False)
class RawSeries:
    """One series as stored: times in Unix seconds, strictly ascending."""

    labels: Mapping[str, str]
    times: Floats
    values: Floats

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


class _Data(msgspec.Struct):
    kind: str = msgspec.field(name="resultType")
    result: msgspec.Raw


class _Numbers(msgspec.Struct):
    # Native histograms come under another name and are left out.
    metric: dict[str, str]
    values: list[tuple[float, float]] = []


class _Texts(msgspec.Struct):
    metric: dict[str, str]
    values: list[tuple[float, str]] = []


def open_envelope(answer: Answer) -> tuple[msgspec.Raw, tuple[str, ...]]:
    """The data of *answer* and its warnings.

    Raises:
        SourceError: no such JSON, or it tells of an error.
    """
    envelope = answer.json(Envelope)
    if envelope.status != "success":
        raise answer.error("an error")
    partial = ["the server says that its answer is partial"] if envelope.partial else []
    return envelope.data, (*(envelope.warnings or ()), *partial)


def decode_matrix(answer: Answer) -> tuple[list[RawSeries], tuple[str, ...]]:
    """The raw series in *answer* and its warnings.

    Raises:
        SourceError: as :func:`open_envelope`, or other data than raw samples.
    """
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
    return [
        _checked(series, answer.where) for series in _decode(data.result, answer)
    ], warnings


def _decode(result: msgspec.Raw, answer: Answer) -> list[_Numbers] | list[_Texts]:
    try:
        # Values are texts. Lax decoding makes floats of them three times as fast as
        # float() does, takes "NaN", but no "+Inf".
        return msgspec.json.decode(result, type=list[_Numbers], strict=False)
    except msgspec.ValidationError:
        pass
    try:
        return msgspec.json.decode(result, type=list[_Texts])
    except msgspec.ValidationError as error:
        raise answer.error(f"series of an unexpected shape ({error})") from error


def _checked(series: _Numbers | _Texts, where: str) -> RawSeries:
    try:
        pairs = np.array(series.values, dtype=np.float64).reshape(-1, 2)
    except ValueError as error:
        raise SourceError(
            f"{where}: a sample of {series.metric} is no number"
        ) from error
    times, values = pairs[:, 0].copy(), pairs[:, 1].copy()
    if not np.all(np.diff(times) > 0):
        raise SourceError(
            f"{where}: the samples of {series.metric} are not in the order of time, "
            "each time once"
        )
    return RawSeries(series.metric, times, values)
