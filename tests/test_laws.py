"""The laws of the house: who may import whom, and what the engine may touch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.laws import (
    EVALUATOR,
    EXPORTER,
    EXPORTER_PURE,
    IMPURE,
    ONLY_USER,
    PURE,
    PURE_LIBRARIES,
)

ROOT = Path(__file__).parents[1]
TABLES = {"exporter": EXPORTER, "evaluator": EVALUATOR}


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


TREES = {name: tree for package in TABLES for name, tree in modules(package)}


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


def covers(entry: str, module: str) -> bool:
    """Whether an entry of a table allows *module*: itself, and what is below it."""
    if entry.endswith("!"):
        return module == entry.removesuffix("!")
    return module == entry or module.startswith(f"{entry}.")


@pytest.mark.parametrize(("name", "tree"), ALL)
def test_a_module_imports_only_what_its_place_allows(name, tree):
    package, _, place = name.partition(".")
    if place in ("", "cli", "__main__"):
        return
    tables = TABLES[package]
    allowed = next((tables[room] for room in tables if covers(room, place)), None)
    assert allowed is not None, "a module without law"
    used = {
        module.removeprefix(f"{package}.")
        for module in _imports(name, tree)
        if module.startswith(f"{package}.")
    }
    assert {
        module for module in used if not any(covers(entry, module) for entry in allowed)
    } == set()


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


@pytest.mark.parametrize(("name", "tree"), below("exporter."))
def test_the_pure_modules_of_the_exporter_use_only_pure_libraries(name, tree):
    place = name.removeprefix("exporter.")
    if not any(covers(room, place) for room in EXPORTER_PURE) or place in IMPURE:
        return
    foreign = {
        module.split(".")[0]
        for module in _imports(name, tree)
        if not module.startswith("exporter")
    }
    assert foreign <= PURE_LIBRARIES
