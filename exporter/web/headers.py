"""Request headers → the time, the format and the compression of an answer. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable

# The longest time that a client may request, in seconds: while a server is frozen,
# other clients wait as long.
LONGEST_SCRAPE = 300.0


def seconds_for_scrape(header: str, *, default: float, offset: float) -> float:
    """How long a scrape may take.

    Args:
        header: X-Prometheus-Scrape-Timeout-Seconds, or anything else.
        default: for a client that does not send its timeout.
        offset: to subtract from the client's timeout, for sending the page.
    """
    try:
        timeout = float(header)
    except ValueError:
        return default
    if not math.isfinite(timeout) or timeout <= 0:
        return default
    timeout = min(timeout, max(LONGEST_SCRAPE, default))
    return timeout - offset if timeout > 2 * offset else timeout / 2


def wants_gzip(header: str) -> bool:
    """Whether Accept-Encoding names gzip."""
    return any(name == "gzip" and quality > 0 for name, quality, _ in _choices(header))


def wants_openmetrics(header: str) -> bool:
    """Whether Accept prefers OpenMetrics 1.0.0 to the text format."""
    text = openmetrics = 0.0
    for name, quality, parameters in _choices(header):
        if name == "application/openmetrics-text":
            if parameters.get("version", "1.0.0") == "1.0.0":
                openmetrics = max(openmetrics, quality)
        elif name == "text/plain":
            text = max(text, quality)
    return openmetrics > 0 and openmetrics >= text


def _choices(header: str) -> Iterable[tuple[str, float, dict[str, str]]]:
    """Names, qualities and other parameters of an Accept header."""
    for part in header.split(","):
        name, *rest = (piece.strip() for piece in part.split(";"))
        parameters = dict(piece.split("=", 1) for piece in rest if "=" in piece)
        try:
            quality = float(parameters.pop("q", "1"))
        except ValueError:
            quality = 0.0
        yield name.lower(), quality, parameters
