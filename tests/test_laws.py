"""The laws of the house: who may import whom, and what the engine may touch."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("exporter", "evaluator")

# What a module or folder of the evaluator may import of the evaluator. The first entry
# whose name begins the module's decides.
EVALUATOR = {
    # Only the judge and the two rules know the order of the steps.
    "engine.judge": {"model", "engine"},
    "engine.detectors": {
        *{"model", "engine.stats", "engine.prepare", "engine.noise"},
        "engine.detectors.query",
    },
    "engine.noise.model": {"model", "engine.stats", "engine.noise"},
    "engine.noise": {"model", "engine.stats"},
    "engine.prepare": {"model", "engine.stats"},
    "engine.causes": {"model", "engine.stats", "engine.causes.measures"},
    "engine.stats": {"model"},
    "engine": {"engine.judge", "engine.prepare"},
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
        *{"model", "errors", "units", "engine"},
        *{"sources.readings", "sources.surroundings"},
    },
    "service": {
        *{"model", "errors", "units", "service", "sinks.gauges"},
        *{"triggers.port", "triggers.inbox", "sources.readings"},
    },
    "backtest": {
        *{"model", "errors", "units", "engine", "backtest", "sources.readings"},
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
        *{"model", "errors", "units", "settings", "assembly", "sources", "engine"},
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

# Law 2: no clock, no dice, no log, no network, no files.
PURE = {"__future__", "collections", "dataclasses", "enum", "math", "typing"} | {
    *{"numpy", "scipy", "bisect", "itertools", "functools", "importlib", "re"},
}


def modules(package: str) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        yield name.removesuffix(".__init__"), ast.parse(path.read_text("utf-8"))


def imports(name: str, tree: ast.Module, *, is_package: bool) -> Iterator[str]:
    """Absolute names of all that *tree* imports; relative ones are resolved."""
    parents = name.split(".") if is_package else name.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = parents[: len(parents) - node.level + 1] if node.level else []
            prefix = [*base, *(node.module or "").split(".")]
            prefix = [part for part in prefix if part]
            if node.module:
                yield ".".join(prefix)
            else:
                yield from (".".join([*prefix, alias.name]) for alias in node.names)


TREES = {name: tree for package in PACKAGES for name, tree in modules(package)}


def below(prefix: str) -> list[object]:
    """Test cases: every module whose name begins with *prefix*."""
    return [
        pytest.param(name, tree, id=name)
        for name, tree in TREES.items()
        if name.startswith(prefix)
    ]


ALL = below("")


def _is_package(name: str) -> bool:
    return (ROOT / Path(*name.split("."))).is_dir()


def _imports(name: str, tree: ast.Module) -> list[str]:
    return list(imports(name, tree, is_package=_is_package(name)))


@pytest.mark.parametrize(("name", "tree"), ALL)
def test_imports_inside_a_package_are_relative(name, tree):
    own = name.split(".")[0]
    absolute = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and not node.level
        and (node.module or "").split(".")[0] == own
    ]
    assert absolute == []


@pytest.mark.parametrize(("name", "tree"), ALL)
def test_the_two_programs_share_only_the_exposition_text(name, tree):
    other = {"exporter": "evaluator", "evaluator": "exporter"}[name.split(".")[0]]
    foreign = {other, "lab", "tests", "bench"}

    assert not foreign & {module.split(".")[0] for module in _imports(name, tree)}


@pytest.mark.parametrize(("name", "tree"), below("evaluator."))
def test_a_module_of_the_evaluator_imports_only_what_its_place_allows(name, tree):
    place = name.removeprefix("evaluator.")
    allowed = next(
        (
            EVALUATOR[room]
            for room in EVALUATOR
            if place == room or place.startswith(f"{room}.")
        ),
        None,
    )
    if allowed is None:
        assert place in {"cli", "__main__"}, "a room without law"
        return
    used = {
        module.removeprefix("evaluator.")
        for module in _imports(name, tree)
        if module.startswith("evaluator")
    }
    strangers = {
        module
        for module in used
        if not any(module == a or module.startswith(f"{a}.") for a in allowed)
    }
    assert strangers == set()


@pytest.mark.parametrize(("name", "tree"), below("evaluator.engine"))
def test_the_engine_is_pure(name, tree):
    foreign = {
        module.split(".")[0]
        for module in _imports(name, tree)
        if not module.startswith("evaluator")
    }
    assert foreign <= PURE


@pytest.mark.parametrize(("name", "tree"), ALL)
def test_each_way_out_of_the_process_has_one_owner(name, tree):
    for library, owners in ONLY_USER.items():
        if any(m.split(".")[0] == library for m in _imports(name, tree)):
            assert name in owners, f"{name} must not import {library}"


def test_the_exporter_needs_neither_numpy_nor_scipy():
    used = {
        module.split(".")[0]
        for name, tree in modules("exporter")
        for module in _imports(name, tree)
    }
    assert not used & {"numpy", "scipy", "requests"}


@pytest.mark.parametrize("name", TREES)
def test_a_file_is_one_idea_of_at_most_300_lines(name):
    path = ROOT.joinpath(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")

    assert len(file.read_text("utf-8").splitlines()) < 300


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


def _within(module: str, rooms: Iterable[str]) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


@pytest.mark.parametrize(("name", "tree"), below("exporter."))
def test_a_module_of_the_exporter_imports_only_what_its_place_allows(name, tree):
    place = name.removeprefix("exporter.")
    allowed = next(
        (EXPORTER[room] for room in EXPORTER if _within(place, [room])), None
    )
    if allowed is None:
        assert place in {"cli", "__main__"}, "a module without law"
        return
    used = {
        module.removeprefix("exporter.")
        for module in _imports(name, tree)
        if module.startswith("exporter")
    }
    assert {module for module in used if not _within(module, allowed)} == set()


@pytest.mark.parametrize(("name", "tree"), below("exporter."))
def test_the_pure_modules_of_the_exporter_use_only_pure_libraries(name, tree):
    place = name.removeprefix("exporter.")
    if not _within(place, EXPORTER_PURE) or place in IMPURE:
        return
    foreign = {
        module.split(".")[0]
        for module in _imports(name, tree)
        if not module.startswith("exporter")
    }
    assert foreign <= PURE_LIBRARIES
