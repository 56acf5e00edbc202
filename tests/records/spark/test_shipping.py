"""The modules that are sent to executors import no other module of Headwater."""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from headwater.records.compaction.shipping import SHIPPED_MODULES
from tests.test_architecture import walk


def test_sent_modules_are_complete() -> None:
    for file in files():
        for node in walk(ast.parse(file.read_text()), at_import_time=False):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                if name.split(".")[0] == "headwater":
                    assert name.startswith(SHIPPED_MODULES), f"{file.name} imports {name}, which is not sent"


def files() -> list[Path]:
    found: list[Path] = []
    for name in SHIPPED_MODULES:
        import_module(name)
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        own = Path(spec.origin)
        found += own.parent.glob("*.py") if own.name == "__init__.py" else [own]
    return found
