"""The one table of settings: its paths are the YAML keys, and the flags after ``--``.

``web.listen_address`` is ``web: {listen_address: …}`` in the file and
``--web.listen-address`` as a flag.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .counters import COUNTER_FIELDS, DEFAULT_COUNTERS
from .dsn import Dsn
from .logs import FORMATS, LEVELS

DEFAULT_PORT = 9719


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings that were checked; names are the paths with ``_`` for the dot.

    Args:
        dsn: of the server behind the telemetry path; None if there is none.
        targets: connection strings of the named servers behind /probe.
    """

    dsn: Dsn | None
    targets: Mapping[str, Dsn] = field(default_factory=dict)
    web_listen_address: tuple[str, int] = ("", DEFAULT_PORT)
    web_telemetry_path: str = "/metrics"
    web_config_file: Path | None = None
    web_openmetrics_created: bool = False
    log_level: str = "info"
    log_format: str = "logfmt"
    scrape_timeout: float = 10.0
    scrape_timeout_offset: float = 0.5
    statements_counters: tuple[str, ...] = DEFAULT_COUNTERS
    statements_limit: int = 0
    context_enabled: bool = True
    texts_enabled: bool = True
    texts_length: int = 200
    texts_interval: float = 60.0
    texts_timeout: float = 2.0
    plans_enabled: bool = False
    plans_number: int = 20
    plans_interval: float = 300.0
    plans_timeout: float = 1.0


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table.

    Args:
        read: value of the file or text of the flag → value; ValueError says what
            would be right.
        shows: how the help writes the value.
    """

    path: str
    read: Callable[[Any], Any]
    help: str
    shows: str

    @property
    def attribute(self) -> str:
        return self.path.replace(".", "_")

    @property
    def flag(self) -> str:
        # All exporters spell this one with a dot.
        dotted = self.path.replace("config_file", "config.file")
        return "--" + dotted.replace("_", "-")


_PATH = re.compile(r"/[\w.~-][\w.~/-]*", re.ASCII)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("expected text")
    return value


def _path(value: Any) -> str:
    if not isinstance(value, str) or not _PATH.fullmatch(value):
        raise ValueError("expected a path such as /metrics")
    if value == "/probe" or value.startswith("/-/"):
        raise ValueError("expected a path that is not /probe nor below /-/")
    return value


def _file(value: Any) -> Path:
    return Path(_text(value))


def _address(value: Any) -> tuple[str, int]:
    """``host:port``, ``:port`` for all interfaces, ``[::1]:port``."""
    host, colon, port = str(value).rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"expected an address such as :{DEFAULT_PORT}")
    if host.startswith("[") and host.endswith("]"):
        return host[1:-1], int(port)
    if ":" in host:
        raise ValueError(f"expected brackets, such as [::1]:{DEFAULT_PORT}")
    return host, int(port)


# PostgreSQL's time-outs end at 24 days.
_LONGEST_HOURS = 168
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def _duration(value: Any) -> float:
    """Seconds: a number, or one with a unit (ms, s, m, h); above zero."""
    problem = ValueError("expected a duration such as 10s or 500ms")
    text = str(value).strip()
    unit = next((u for u in _UNITS if text.endswith(u)), "")
    try:
        seconds = float(text.removesuffix(unit)) * _UNITS.get(unit, 1.0)
    except ValueError:
        raise problem from None
    if isinstance(value, bool) or not seconds > 0:
        raise problem
    if seconds > _LONGEST_HOURS * 3600:
        raise ValueError(f"expected a duration of at most {_LONGEST_HOURS}h")
    return seconds


def _whole(least: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        text = str(value)
        if isinstance(value, bool) or not text.isdecimal() or int(text) < least:
            raise ValueError(f"expected a whole number from {least} on")
        return int(text)

    return read


def _switch(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise ValueError("expected true or false")


def _one_of(*names: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in names:
            raise ValueError(f"expected one of {', '.join(names)}")
        return str(value)

    return read


def _counters(value: Any) -> tuple[str, ...]:
    """A list, or names with commas; in the order of the table of metrics."""
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list) or not names:
        raise ValueError("expected a list such as calls,seconds,rows")
    for name in names:
        if name not in COUNTER_FIELDS:
            raise ValueError(f"unknown counter{nearest(str(name), COUNTER_FIELDS)}")
    return tuple(name for name in COUNTER_FIELDS if name in names)


SETTINGS = (
    Setting(
        "web.listen_address",
        _address,
        f"address to serve on (default :{DEFAULT_PORT})",
        "HOST:PORT",
    ),
    Setting(
        "web.telemetry_path",
        _path,
        "path of the metrics (default /metrics)",
        "PATH",
    ),
    Setting(
        "web.config_file",
        _file,
        "TLS, client certificates and basic auth, in exporter-toolkit's form; "
        "read again when it changes",
        "PATH",
    ),
    Setting(
        "web.openmetrics_created",
        _switch,
        "in OpenMetrics, tell when each counter began, from PostgreSQL 17 on; "
        "a Prometheus that does not use it stores it as further series "
        "(default false)",
        "true|false",
    ),
    Setting(
        "log.level", _one_of(*LEVELS), "least level to log (default info)", "LEVEL"
    ),
    Setting(
        "log.format", _one_of(*FORMATS), "logfmt or json (default logfmt)", "FORMAT"
    ),
    Setting(
        "scrape.timeout",
        _duration,
        "time for a scrape whose client names none (default 10s)",
        "DURATION",
    ),
    Setting(
        "scrape.timeout_offset",
        _duration,
        "time to keep from the client's timeout for sending (default 500ms)",
        "DURATION",
    ),
    Setting(
        "statements.counters",
        _counters,
        f"counters of each statement (default {','.join(DEFAULT_COUNTERS)}); "
        f"all: {','.join(COUNTER_FIELDS)}",
        "NAME,…",
    ),
    Setting(
        "statements.limit",
        _whole(0),
        "most statements to show, the costliest; one that is shown stays; "
        "0 shows all (default 0)",
        "NUMBER",
    ),
    Setting(
        "context.enabled",
        _switch,
        "show the few server-wide series that tell an outside cause from a deploy "
        "(default true)",
        "true|false",
    ),
    Setting(
        "texts.enabled",
        _switch,
        "show query texts in pg_stat_statements_query_info; when false none leaves "
        "the server (default true)",
        "true|false",
    ),
    Setting("texts.length", _whole(1), "characters to show (default 200)", "NUMBER"),
    Setting(
        "texts.interval",
        _duration,
        "how often to look for new statements' texts (default 60s)",
        "DURATION",
    ),
    Setting(
        "texts.timeout",
        _duration,
        "time for one read of texts; scrapes wait for it (default 2s)",
        "DURATION",
    ),
    Setting(
        "plans.enabled",
        _switch,
        "EXPLAIN (GENERIC_PLAN) the costliest statements, from PostgreSQL 16 on, for "
        "pg_stat_statements_plan_info (default false)",
        "true|false",
    ),
    Setting("plans.number", _whole(1), "how many statements (default 20)", "NUMBER"),
    Setting(
        "plans.interval",
        _duration,
        "time between two rounds of plans (default 5m)",
        "DURATION",
    ),
    Setting(
        "plans.timeout",
        _duration,
        "time for one plan; scrapes wait for it (default 1s)",
        "DURATION",
    ),
)


def nearest(name: str, names: tuple[str, ...]) -> str:
    """``; did you mean "…"?`` for a name that is nearly one of *names*, or nothing."""
    close = get_close_matches(name, names, n=1)
    return f'; did you mean "{close[0]}"?' if close else ""
