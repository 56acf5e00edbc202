"""tools/ runs before anything is installed, and stays small."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "dev", *sorted((ROOT / "tools").rglob("*.py"))]
LONGEST_FUNCTION = 60
LONGEST_MODULE = 300


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield node.module or ""


def test_there_are_files() -> None:
    assert len(FILES) > 10


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_only_the_standard_library_is_imported(path: Path) -> None:
    packages = {name.split(".")[0] for name in imported(path)}
    assert packages - sys.stdlib_module_names - {"tools"} == set()


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_functions_and_modules_are_short(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= LONGEST_MODULE
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    assert [f.name for f in functions if (f.end_lineno or 0) - f.lineno >= LONGEST_FUNCTION] == []


def test_no_import_cycles() -> None:
    modules = {name_of(path).removesuffix(".py").replace("/", "."): path for path in FILES}
    waiting = {name: {other for other in imported(path) if other in modules} for name, path in modules.items()}
    while waiting:
        ready = {name for name, needed in waiting.items() if not needed & waiting.keys()}
        assert ready, f"these import each other: {sorted(waiting)}"
        waiting = {name: needed for name, needed in waiting.items() if name not in ready}
