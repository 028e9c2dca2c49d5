"""The laws of the house as tables: who may import whom, and what is pure."""

from __future__ import annotations

# The engine as others see it; the mark says: this module, nothing below it.
FACE = "engine!"
# What a detector leaves behind.
JUDGED = {"engine.detectors.base", "engine.prepare.prepared"}
# What a module or folder of the evaluator may import of the evaluator. The first entry
# whose name begins the module's decides.
EVALUATOR = {
    # The face knows the judge, the judge the order of the steps.
    "engine.judge": {"model", "engine"},
    "engine.explanations": {"model", "engine.causes", *JUDGED},
    "engine.verdicts": {"model", "engine.explanations", "engine.prepare", *JUDGED},
    "engine.detectors.base": {"model", "engine.stats", "engine.prepare"},
    "engine.detectors.checks": {"model"},
    # A detector knows its steps, and never another detector.
    **{
        f"engine.detectors.{name}": {
            *{"model", "engine.stats", "engine.prepare", "engine.noise.model"},
            *{"engine.detectors.base", "engine.detectors.checks"},
        }
        for name in ("classic", "calibrated")
    },
    "engine.detectors": {"engine.detectors"},
    # These two know the order of the steps that learn the noise; a step knows what
    # flows between them at most.
    "engine.noise.model": {"model", "engine.stats", "engine.noise"},
    "engine.noise.query_noise": {"model", "engine.stats", "engine.noise"},
    # The same for what queries share; factors, paths and loadings build on each other.
    "engine.noise.shared.removal": {"model", "engine.stats", "engine.noise"},
    "engine.noise.shared.groups": {"model", "engine.stats", "engine.noise"},
    "engine.noise.shared": {"model", "engine.stats", "engine.noise.shared"},
    "engine.noise": {"model", "engine.stats"},
    "engine.prepare.prepared": {"model", "engine.stats", "engine.prepare"},
    "engine.prepare.panel": {"model", "engine.stats", "engine.prepare"},
    "engine.prepare.reference": {"model", "engine.prepare.prepared"},
    "engine.prepare.windows": {"model", "engine.stats", "engine.prepare.intervals"},
    "engine.prepare": {"model", "engine.stats"},
    "engine.causes.kinds": {"model", "engine.causes.measures"},
    "engine.causes.measures": {"model", "engine.prepare.intervals"},
    "engine.causes": {"model", "engine.stats"},
    "engine.stats": {"model", "engine.stats"},
    "engine": {"engine.judge", "engine.detectors", "engine.prepare"},
    # Names of the first release.
    "config": {"settings.schema"},
    "examination": {"service.evaluate"},
    "model": {"model"},
    "errors": set(),
    "units": set(),
    "logs": set(),
    "transport.redaction": set(),
    "transport": {"errors", "transport"},
    "grafana": {"errors", "units", "transport", "sources.api"},
    "triggers": {"model", "errors", "units", "transport", "grafana", "triggers"},
    "sources": {"model", "transport", "errors", "units", "sources"},
    "sinks": {"model", "transport", "errors", "units", "sinks"},
    "settings.secrets": {"errors"},
    "settings.validation": {"errors", "units"},
    "settings": {
        *{"model", "errors", "units", "settings", "sources.profiles"},
        "triggers.annotation_patterns",
    },
    "service.ledger": {"model", "errors", "service.rows", "service.file_lock"},
    "service.rows": {"model"},
    "service.file_lock": {"errors"},
    "service.overlap": {"model"},
    "service.evaluate": {
        *{"model", "errors", "units", FACE},
        *{"sources.readings", "sources.surroundings"},
    },
    "service": {
        *{"model", "errors", "units", "service", "sinks.gauges"},
        *{"triggers.port", "triggers.inbox", "sources.readings"},
    },
    "backtest": {
        *{"model", "errors", "units", "backtest", "sources.readings", FACE},
        "engine.stats",
    },
    "web": {"errors", "web"},
    "commands.run": {
        *{"model", "errors", "units", "settings", "assembly", "service"},
        *{"sinks.gauges", "sinks.links", "triggers.inbox", "web"},
        "commands.arguments",
    },
    "commands.stored": {
        *{"model", "errors", "units", "settings", "assembly", "service.ledger"},
        *{"sources.readings", "commands"},
    },
    "commands": {
        *{"model", "errors", "units", "settings", "assembly", "sources", FACE},
        *{"sinks", "service.evaluate", "service.overlap", "backtest", "logs"},
        *{"commands", "triggers.port"},
    },
    "assembly": {
        *{"model", "errors", "settings", "transport", "grafana"},
        *{"sources", "triggers", "sinks"},
    },
}

# Law 3: one file for each way out of the process.
ONLY_USER = {
    "psycopg": {"exporter.postgres.connection"},
    "pglast": {"exporter.postgres.plans", "exporter.postgres.texts"},
    "bcrypt": {"exporter.web.access"},
    "requests": {"evaluator.transport.client", "evaluator.transport.failures"},
    "sqlite3": {"evaluator.service.ledger"},
}

# Law 2: no clock, no unseeded randomness, no log, no network, no files.
PURE = {"__future__", "abc", "collections", "dataclasses", "enum", "math", "typing"} | {
    *{"numpy", "scipy", "bisect", "itertools", "functools", "importlib", "re"},
}

# The exporter: what a module or wing may import of the exporter. The first entry whose
# name begins the module's decides; cli sees everything.
EXPORTER = {
    "errors": set(),
    "logs": set(),
    "tune_memory": set(),
    "values": {"values"},
    "postgres.connection": {"values", "postgres.refusals"},
    "postgres.rows": {"values", "postgres.queries"},
    "postgres.reading": {"values", "postgres"},
    "postgres": {"values"},
    "metrics": {"values", "metrics"},
    "periodic.task": set(),
    "periodic.single_flight": set(),
    "periodic": {
        *{"values", "postgres.connection", "postgres.reading", "postgres.plans"},
        *{"metrics.labels", "metrics.label_books", "metrics.sticky_limit"},
        *{"periodic.task", "periodic.single_flight"},
    },
    "scrape": {"values", "metrics.exposition"},
    "target": {"values", "postgres", "metrics", "periodic", "scrape"},
    # Without the driver, the parser and the web server.
    "settings": {"errors", "logs", "metrics.counters", "postgres.dsn", "settings"},
    "web.application": {
        *{"target", "scrape", "web.headers"},
        *{"metrics.exposition", "metrics.self_metrics"},
    },
    "web": {"errors", "settings.nearest", "settings.yaml_file", "web"},
    "service": {"settings.table", "target", "periodic", "web"},
}

# Values in, values out: no clock, log, network, file or driver. Locks and the parser
# are allowed.
EXPORTER_PURE = {
    *{"values", "metrics", "postgres.queries", "postgres.context", "postgres.rows"},
    *{"postgres.refusals", "postgres.texts", "postgres.plans", "settings.nearest"},
    "web.headers",
}
IMPURE = {"metrics.self_metrics"}
PURE_LIBRARIES = {
    *{"__future__", "collections", "dataclasses", "difflib", "enum", "hashlib"},
    *{"heapq", "itertools", "json", "math", "operator", "re", "threading", "typing"},
    "pglast",
}
