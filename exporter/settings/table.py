"""The one table of settings: paths are the YAML keys, and the flags after ``--``. Pure.

``web.listen_address`` is ``web: {listen_address: …}`` in the file and
``--web.listen-address`` as a flag.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..logs import FORMATS, LEVELS
from ..metrics.counters import COUNTER_FIELDS, DEFAULT_COUNTERS
from ..postgres.connecting.dsn import Dsn
from .kinds import (
    ADDRESS,
    COUNTERS,
    DEFAULT_PORT,
    DURATION,
    FILE,
    SWITCH,
    URL_PATH,
    Kind,
    choice,
    whole_number,
)


@dataclass(frozen=True, slots=True)
class Settings:
    """Checked settings and their defaults; names are the paths with ``_`` for the dot.

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


_DEFAULTS = {each.name: each.default for each in fields(Settings)}


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table.

    Args:
        purpose: what it is for, without its default.
    """

    path: str
    kind: Kind
    purpose: str

    @property
    def attribute(self) -> str:
        """Its name in Settings."""
        return self.path.replace(".", "_")

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        # All exporters spell this one with a dot.
        dotted = self.path.replace("config_file", "config.file")
        return "--" + dotted.replace("_", "-")

    @property
    def default(self) -> Any:
        """Its value if it is not set."""
        return _DEFAULTS[self.attribute]

    @property
    def help(self) -> str:
        """What it is for, and its default."""
        if self.default is None:
            return self.purpose
        return f"{self.purpose} (default {self.kind.write(self.default)})"


SETTINGS = (
    Setting("web.listen_address", ADDRESS, "address to serve on"),
    Setting("web.telemetry_path", URL_PATH, "path of the metrics"),
    Setting(
        "web.config_file",
        FILE,
        "TLS, client certificates and basic auth, in the format of exporter-toolkit; "
        "read again when it changes",
    ),
    Setting(
        "web.openmetrics_created",
        SWITCH,
        "in OpenMetrics, show when each counter started (PostgreSQL 17 and later); "
        "a Prometheus that does not use this stores it as additional series",
    ),
    Setting("log.level", choice(*LEVELS), "lowest level to log"),
    Setting("log.format", choice(*FORMATS), "format of the log lines"),
    Setting(
        "scrape.timeout",
        DURATION,
        "time for a scrape whose client does not send its timeout",
    ),
    Setting(
        "scrape.timeout_offset",
        DURATION,
        "time to subtract from the client's timeout, for sending the page",
    ),
    Setting(
        "statements.counters",
        COUNTERS,
        f"counters of each statement, any of {','.join(COUNTER_FIELDS)}",
    ),
    Setting(
        "statements.limit",
        whole_number(0),
        "most statements to show, the costliest; a statement that is shown stays; "
        "0 shows all",
    ),
    Setting(
        "context.enabled",
        SWITCH,
        "show the few server-wide series that distinguish an outside cause from a "
        "deploy",
    ),
    Setting(
        "texts.enabled",
        SWITCH,
        "show query texts in pg_stat_statements_query_info; if false, no text leaves "
        "the server",
    ),
    Setting("texts.length", whole_number(1), "characters to show of each text"),
    Setting(
        "texts.interval", DURATION, "time between two reads of new statements' texts"
    ),
    Setting(
        "texts.timeout", DURATION, "time for one read of texts; scrapes wait for it"
    ),
    Setting(
        "plans.enabled",
        SWITCH,
        "show generic plans of the costliest statements in "
        "pg_stat_statements_plan_info, with EXPLAIN (GENERIC_PLAN); PostgreSQL 16 "
        "and later",
    ),
    Setting("plans.number", whole_number(1), "number of statements with a plan"),
    Setting("plans.interval", DURATION, "time between two rounds of reading plans"),
    Setting("plans.timeout", DURATION, "time for one plan; scrapes wait for it"),
)
