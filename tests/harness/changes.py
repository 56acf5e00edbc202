"""The test files that a change can affect: by imports for code, by folder for everything else.

An import counts wherever it is, also inside a function. A test file that starts `headwater` as a process depends on
the command line and the server, and so on everything that these import.
"""

from __future__ import annotations

import ast
import functools
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

STARTS_PROCESSES = ('"headwater"', "ServerProcess", "run_script(", "run_driver(", "sys.executable")
ENTRY_POINTS = ("headwater.__main__", "headwater.cli", "headwater.cli.app", "headwater.server.app.app")
# Files that are no modules, by how their path begins, and the tests that read them.
READERS = {
    "docs/": ("tests/docs",),
    "README.md": ("tests/docs", "tests/tools"),
    "examples/": ("tests/docs", "tests/page", "tests/cli"),
    "ui/": ("tests/page",),
    "tools/": ("tests/tools",),
    "CONTRIBUTING.md": ("tests/docs", "tests/harness", "tests/tools"),
    "ARCHITECTURE.md": ("tests/docs", "tests/test_architecture.py"),
}
EVERYTHING = ("dev", "pyproject.toml", "requirements", "tests/conftest.py", "tests/harness/", "headwater-autostart.pth")
RUNS_THE_TESTS = "tools.testing"  # `./dev test`: what it imports, every test rests on


def affected_tests(root: Path) -> list[str]:
    """Paths of test files and folders, for pytest."""
    return reached_by(root, changed_files(root))


def changed_files(root: Path) -> list[str]:
    """Changed since HEAD, including untracked files."""
    listed = [
        ["git", "diff", "--name-only", "HEAD"],
        ["git", "ls-files", "--others", "--exclude-standard"],
    ]
    answers = [subprocess.run(each, cwd=root, text=True, capture_output=True, check=True).stdout for each in listed]
    return sorted({line for answer in answers for line in answer.splitlines()})


def reached_by(root: Path, changed: Iterable[str]) -> list[str]:
    modules, importers = _import_graph(root)
    reached: set[str] = set()
    for file in changed:
        if file.startswith(EVERYTHING):
            return ["tests"]
        reached.update(test for start, tests in READERS.items() if file.startswith(start) for test in tests)
        if file.endswith("conftest.py"):
            reached.add(str(Path(file).parent))
        elif file.endswith(".py") and file.startswith(("src/", "tests/", "benchmarks/", "tools/")):
            names = _closure(_module_name(Path(file)), importers)
            if RUNS_THE_TESTS in names:
                return ["tests"]
            reached.update(_test_path(modules[name], root) for name in names if name in modules)
        elif file.startswith(("tests/", "src/")):  # a golden case, a Java class, a migration
            reached.update(_nearest_tests(root, file, modules, importers))
    return sorted(path for path in reached if path and (root / path).exists())


@functools.cache
def _import_graph(root: Path) -> tuple[dict[str, Path], dict[str, set[str]]]:
    """Every module, with its importers."""
    modules = {_module_name(path.relative_to(root)): path for path in _python_files(root)}
    return modules, _importers(modules)


def _python_files(root: Path) -> Iterator[Path]:
    for folder in ("src", "tests", "tools"):
        yield from (root / folder).rglob("*.py")


def _module_name(path: Path) -> str:
    parts = list(path.with_suffix("").parts)
    if parts[0] == "src":
        parts = parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _importers(modules: dict[str, Path]) -> dict[str, set[str]]:
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for name, path in modules.items():
        text = path.read_text()
        for wanted in _imports(name, path, ast.parse(text)):
            importers[wanted].add(name)
        if name.startswith("tests.") and any(sign in text for sign in STARTS_PROCESSES):
            for entry in ENTRY_POINTS:
                importers[entry].add(name)
    return importers


def _imports(name: str, path: Path, tree: ast.Module) -> Iterator[str]:
    """Names that may be modules; names that are not have no importers."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _closure(start: str, importers: dict[str, set[str]]) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        for importer in importers.get(waiting.pop(), ()):
            if importer not in reached:
                reached.add(importer)
                waiting.append(importer)
    return reached


def _test_path(path: Path, root: Path) -> str:
    """The test file itself; for a conftest its folder; nothing for other modules."""
    if path.name == "conftest.py":
        return str(path.parent.relative_to(root))
    return str(path.relative_to(root)) if path.name.startswith("test_") else ""


def _nearest_tests(root: Path, file: str, modules: dict[str, Path], importers: dict[str, set[str]]) -> set[str]:
    if file.startswith("tests/"):
        folder = Path(file).parent
        while not any((root / folder).glob("test_*.py")) and folder != Path("tests"):
            folder = folder.parent
        return {str(folder)}
    package = _module_name(Path(file).parent / "__init__.py")
    inside = [name for name in modules if name == package or name.startswith(f"{package}.")]
    return {_test_path(modules[name], root) for start in inside for name in _closure(start, importers)}
