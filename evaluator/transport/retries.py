"""The header Retry-After → seconds to wait."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def retry_after(headers: Mapping[str, str], otherwise: float) -> float:
    """Seconds to wait before a retry; RFC 9110, 10.2.3: a number or a date.

    Args:
        headers: names in lower case.
        otherwise: where the server names no time that can be read.
    """
    asked = headers.get("retry-after", "").strip()
    if asked.isdecimal():
        return float(asked)
    try:
        return max(0.0, parsedate_to_datetime(asked).timestamp() - time.time())
    except (ValueError, OverflowError):
        return otherwise
