"""What is asked of Prometheus' HTTP API, and how.

A range selector in ``/api/v1/query`` gives the samples as they were scraped;
``query_range`` computes values on a grid, which is right for gauges and rates only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ..errors import TooMuchError
from ..transport.answers import Answer, is_too_much, refusal
from ..transport.client import Client, Params
from .matrix import RawSeries, decode_matrix, open_envelope

# Prometheus 2 takes a sample at the left edge of a range, Prometheus 3 does not. So
# more is asked for, and whoever reads has to cut.
MARGIN = 1.0
# Thanos leaves out stores that are down unless asked otherwise, and may answer
# downsampled data; servers that do not know these parameters ignore them.
_WHOLE_AND_RAW = (("partial_response", "false"), ("max_source_resolution", "0s"))

# The end of an answer in which an error may be, bytes.
_ERROR_WITHIN = 65536
# Prometheus 3 warns in these words, and gives no other sign, that it left series out.
_TRUNCATED = re.compile(rb'"warnings":\s*\[[^\]]*truncated due to limit[^\]]*\]')
# Any other name must be quoted, and servers before Prometheus 3 do not know it.
_PLAIN_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_PLAIN_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


class PrometheusApi:
    """The three questions that are asked; every answer comes with its warnings.

    Args:
        selector: label matchers that choose the series, as in PromQL; braces around
            them are ignored.
    """

    def __init__(self, client: Client, selector: str = "") -> None:
        self._client = client
        self._selector = selector.strip("{}, \t\n")

    def chosen(self, name: str, *more: str) -> str:
        """*name* with the matchers of the selector and *more* of them."""
        plain = _PLAIN_METRIC.fullmatch(name) is not None
        named = matcher("__name__", name) if name and not plain else ""
        matchers = ",".join(filter(None, (named, self._selector, *more)))
        shown = name if plain else ""
        return f"{shown}{{{matchers}}}" if matchers else shown

    def labels(
        self, selectors: Sequence[str], start: float, end: float
    ) -> tuple[list[dict[str, str]], tuple[str, ...]]:
        """The labels of all series that may have samples between the two times.

        Args:
            selectors: a series is listed when one of them chooses it.

        Raises:
            SourceError: no usable answer; TooMuchError: to a smaller question perhaps.
        """
        answer = self._answer(
            "/api/v1/series",
            [
                *(("match[]", one) for one in selectors),
                ("start", f"{start - MARGIN:.3f}"),
                ("end", f"{end + MARGIN:.3f}"),
                *_WHOLE_AND_RAW,
            ],
        )
        data, warnings = open_envelope(answer)
        try:
            return msgspec.json.decode(data, type=list[dict[str, str]]), warnings
        except msgspec.ValidationError as error:
            raise answer.error(f"series of an unexpected shape ({error})") from error

    def samples(
        self, selector: str, start: float, end: float
    ) -> tuple[list[RawSeries], tuple[str, ...]]:
        """The samples of *selector* as stored, from a little before to a little after.

        Raises:
            SourceError: no usable answer.
        """
        series, warnings = decode_matrix(self.samples_answer(selector, start, end))
        return list(series), warnings

    def samples_answer(self, selector: str, start: float, end: float) -> Answer:
        """The answer with these samples, not yet decoded.

        Raises:
            SourceError: no answer; TooMuchError: to a smaller question perhaps.
        """
        margin = round(MARGIN * 1000)
        first, last = round(start * 1000) - margin, round(end * 1000) + margin
        parameters: Params = [
            ("query", f"{selector}[{last - first}ms]"),
            ("time", f"{last / 1000:.3f}"),
            *_WHOLE_AND_RAW,
        ]
        return self._answer("/api/v1/query", parameters)

    def _answer(self, path: str, parameters: Params) -> Answer:
        answer = self._client.post_form(path, parameters)
        # VictoriaMetrics begins an answer before it knows whether it may go on; then an
        # error follows. No text within the JSON can hold these quotes.
        tail = answer.body[-_ERROR_WITHIN:]
        if cut := _TRUNCATED.search(tail):
            warning = cut[0].decode(errors="replace")
            raise TooMuchError(
                f"{answer.where}: answered a part: {warning}", slow=False
            )
        at = tail.rfind(b'{"status":"error"')
        if at >= 0 and is_too_much(200, tail[at:]):
            why = refusal(200, {}, tail[at:], answer.secrets)
            raise TooMuchError(f"{answer.where}: {why}", slow=False)
        return answer

    def evaluated(
        self, expression: str, start: float, end: float, step: float
    ) -> tuple[list[RawSeries], tuple[str, ...]]:
        """The values of *expression* every *step* seconds.

        Raises:
            SourceError: no usable answer.
        """
        parameters: Params = [
            ("query", expression),
            ("start", f"{start:.3f}"),
            ("end", f"{end:.3f}"),
            ("step", f"{step:.3f}"),
            *_WHOLE_AND_RAW,
        ]
        series, warnings = decode_matrix(
            self._answer("/api/v1/query_range", parameters)
        )
        return list(series), warnings


def matcher(label: str, value: str, comparison: str = "=") -> str:
    """A label matcher of PromQL; a name that is not plain is quoted."""
    return f"{label_name(label)}{comparison}{quoted(value)}"


def label_name(label: str) -> str:
    """*label* as PromQL takes it: Prometheus 3 allows any UTF-8 name in quotes."""
    return label if _PLAIN_LABEL.fullmatch(label) else quoted(label)


def escape_regex(text: str) -> str:
    """*text* as an RE2 pattern that matches just it (as Go's regexp.QuoteMeta)."""
    return re.sub(r"[\\.+*?()|\[\]{}^$]", r"\\\g<0>", text)


def quoted(text: str) -> str:
    """*text* as a PromQL string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
