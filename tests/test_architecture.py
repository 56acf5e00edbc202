"""Which package may import which, and which modules are imported only when needed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import rustworkx as rx
from sqlalchemy import Table

import headwater
from headwater.store.schema import tables as schema_tables
from headwater.store.store import Store
from tests.support.events import column_lineage, run_event, used

PACKAGE = Path(headwater.__file__).parent

MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "jvm": set(),
    "redaction": {"errors"},
    "model": {"errors"},
    "proof": {"errors"},
    "formats": {"model", "proof"},
    "plan": {"model"},
    "engines": {"errors", "formats"},
    "capture": {"plan", "formats", "jvm", "redaction"},
    "rows": {"engines", "plan", "model", "formats", "capture"},
    "evidence": {"rows", "capture", "plan", "model", "formats", "proof", "jvm"},
    "checks": {"rows", "capture", "model", "formats"},
    "rules": {"model"},
    "pipeline": {"evidence", "rows", "capture", "model", "errors", "formats", "jvm"},
    "store": {"model", "formats", "proof"},
    "assurance": {"model", "proof", "store"},
    "exchange": {"model", "formats", "store"},
    "records": {"engines", "jvm", "model", "store"},
    "remote": {"model", "errors", "formats", "proof"},
}
"""The rooms, from the ground up. A room may also import what these may import."""

OPEN = {
    "server": {"cli"},
    "cli": set(),
    "examples": {"cli", "server"},
    "doctor": {"cli", "server"},
    "client": {"cli", "server"},
    "capturing": {"cli", "server"},
    "tracing": {"cli", "server"},
    "pipelines": {"cli", "server"},
    "checking": {"cli", "server"},
    "__init__": {"cli"},
    "__main__": set(),
}
"""Rooms at the top may import everything but these."""


def reachable(room: str) -> set[str]:
    below = MAY_IMPORT[room]
    return below.union(*(reachable(other) for other in below))


def packages_of_modules() -> Iterator[tuple[str, Path]]:
    """Every module of Headwater, with its package."""
    for file in sorted(PACKAGE.rglob("*.py")):
        yield file.relative_to(PACKAGE).parts[0].removesuffix(".py"), file


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def imported(file: Path, *, at_import_time: bool = False) -> set[str]:
    """The packages that a module imports, anywhere in it or only when it is itself imported."""
    found = set()
    for node in walk(parsed(file), at_import_time):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file.name}: a relative import hides where it goes"
            names = (
                [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "headwater" else [node.module]
            )
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {(name or "").split(".")[1] for name in names if name and name.startswith("headwater.")}
    return {name for name in found if (PACKAGE / name).exists() or (PACKAGE / f"{name}.py").exists()}


def walk(node: ast.AST, at_import_time: bool) -> Iterator[ast.AST]:
    waiting = [node]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if at_import_time and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                continue
            if at_import_time and isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            yield child
            if not isinstance(child, ast.expr):  # which holds no import
                waiting.append(child)


def modules() -> dict[str, Path]:
    """Every module by its dotted name."""
    found = {}
    for _, file in packages_of_modules():
        parts = ("headwater", *file.relative_to(PACKAGE).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def test_no_import_cycles() -> None:
    """At import time: imports inside functions, and of types only, do not count."""
    known = modules()
    graph: rx.PyDiGraph[str, None] = rx.PyDiGraph()
    number = {name: graph.add_node(name) for name in known}
    for name, file in known.items():
        for node in walk(parsed(file), at_import_time=True):
            targets: list[str] = []
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    targets.append(whole if whole in known else node.module or "")
            elif isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            for target in {target for target in targets if target in known and target != name}:
                graph.add_edge(number[name], number[target], None)
    assert graph.num_edges() > 1_000
    circles = [
        [graph[node] for node in circle] for circle in rx.strongly_connected_components(graph) if len(circle) > 1
    ]
    assert circles == []


def test_modules_and_functions_are_short() -> None:
    """At most 500 lines per module, 60 per function. Migrations are written once and not changed."""
    files = [file for _, file in packages_of_modules() if "migrations" not in file.parts]
    long = [f"{file.relative_to(PACKAGE)}" for file in files if file.read_text().count("\n") > 500]
    for file in files:
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > 60:
                    long.append(f"{file.relative_to(PACKAGE)}: {node.name} ({lines} lines)")
    assert long == []


def test_constructors_take_at_most_six_positional_arguments() -> None:
    """More are named where an object is made, so that no two can be confused. A list of equal arguments is one."""
    classes = {
        node.name: node
        for _, file in packages_of_modules()
        for node in parsed(file).body
        if isinstance(node, ast.ClassDef)
    }
    signatures = {
        name: member.args
        for name, node in classes.items()
        for member in node.body
        if isinstance(member, ast.FunctionDef) and member.name == "__init__"
    }
    assert len(signatures) > 100
    many = [name for name, args in signatures.items() if len(args.posonlyargs + args.args) > 1 + 6]
    for _, file in packages_of_modules():
        for call in ast.walk(parsed(file)):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in classes:
                name = call.func.id
                if len(call.args) > 6 and (name not in signatures or signatures[name].vararg is None):
                    many.append(f"{file.relative_to(PACKAGE)}:{call.lineno} {name}")
    assert many == []


def test_every_package_has_its_rule() -> None:
    assert {room for room, _ in packages_of_modules()} <= MAY_IMPORT.keys() | OPEN.keys()


def test_packages_import_only_what_they_may() -> None:
    astray = []
    for room, file in packages_of_modules():
        others = imported(file) - {room}
        wrong = others - reachable(room) if room in MAY_IMPORT else others & OPEN[room]
        astray += [f"{file.relative_to(PACKAGE)} imports {other}" for other in sorted(wrong)]
    assert astray == []


def test_the_rules_have_no_cycle() -> None:
    for room in MAY_IMPORT:
        assert room not in reachable(room)


def test_importing_headwater_loads_only_names_and_errors() -> None:
    shown = {"checking", "errors", "model", "pipeline", "pipelines", "rules", "tracing", "capturing"}
    assert imported(PACKAGE / "__init__.py", at_import_time=True) <= shown
    assert imported(PACKAGE / "capturing.py", at_import_time=True) == set()
    assert imported(PACKAGE / "tracing.py", at_import_time=True) <= {"errors", "capturing"}
    assert imported(PACKAGE / "checking.py", at_import_time=True) <= {"errors", "model"}
    assert imported(PACKAGE / "pipelines.py", at_import_time=True) <= {"errors", "pipeline"}


def test_sql_stays_in_the_store() -> None:
    """No other package builds statements, so names can reach a database only as bound parameters."""
    astray = []
    for room, file in packages_of_modules():
        for node in walk(parsed(file), at_import_time=False):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if room != "store" and any(name.split(".")[0] in ("sqlalchemy", "sqlite3", "psycopg") for name in names):
                astray.append(str(file.relative_to(PACKAGE)))
    assert astray == []


def test_queries_use_tables_only_through_a_view() -> None:
    """A query that never has the whole table cannot forget to filter hidden rows."""
    tables = {name for name, value in vars(schema_tables).items() if isinstance(value, Table)}
    assert {"dataset", "event", "edge"} <= tables
    astray = []
    for file in [*(PACKAGE / "store" / "query").rglob("*.py"), *(PACKAGE / "store" / "exchange").rglob("*.py")]:
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.ImportFrom):
                module, names = node.module or "", {alias.name for alias in node.names}
                raw = module == "headwater.store.schema.tables" and (names & tables or "metadata" in names)
                other = module.startswith("headwater.store.schema.") and module.endswith("_tables")
                named = module == "headwater.store.schema" and any("tables" in name for name in names)
                literal = module == "sqlalchemy" and names & {"text", "table", "Connection", "MetaData"}
                if raw or other or named or literal:
                    astray.append(f"{file.relative_to(PACKAGE)} imports {sorted(names)} of {module}")
            elif isinstance(node, ast.Attribute) and node.attr == "conn":
                astray.append(f"{file.relative_to(PACKAGE)}:{node.lineno} takes the connection of a view")
    assert astray == []


def test_visibility_is_never_a_default() -> None:
    """Each caller states the visibility; no argument that is left out means everything."""
    taking, astray = set(), []
    for _, file in packages_of_modules():
        for node in ast.walk(parsed(file)):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            plain = [*node.args.posonlyargs, *node.args.args]
            defaults = [None] * (len(plain) - len(node.args.defaults)) + list(node.args.defaults)
            for argument, default in [
                *zip(plain, defaults, strict=True),
                *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
            ]:
                annotation = ast.unparse(argument.annotation) if argument.annotation else ""
                if {"View", "Visibility"} & set(re.findall(r"\w+", annotation)):
                    taking.add(node.name)
                    if default is not None or "None" in annotation:
                        astray.append(f"{file.relative_to(PACKAGE)}: {node.name}({argument.arg})")
    assert len(taking) > 50
    assert astray == []


def sql_calls(*names: str) -> Iterator[tuple[str, ast.Call]]:
    """Calls of functions of `headwater/engines/sql.py`, each with its file."""
    for _, file in packages_of_modules():
        own = file == PACKAGE / "engines" / "sql.py"
        known = {
            alias.name
            for node in ast.walk(parsed(file))
            if isinstance(node, ast.ImportFrom) and node.module == "headwater.engines.sql"
            for alias in node.names
        }
        for node in ast.walk(parsed(file)):
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
            if isinstance(node, ast.Call) and called in names and (own or called in known):
                yield str(file.relative_to(PACKAGE)), node


def test_one_module_opens_duckdb() -> None:
    """No other module imports it, not even for its errors: these are mapped in that module."""
    importing = set()
    for _, file in packages_of_modules():
        for node in walk(parsed(file), at_import_time=False):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] in ("duckdb", "_duckdb") for name in names):
                importing.add(str(file.relative_to(PACKAGE)))
        for node in ast.walk(parsed(file)):
            named = isinstance(node, ast.Call) and any(
                isinstance(part, ast.Constant) and part.value in ("duckdb", "_duckdb") for part in node.args
            )
            if named and isinstance(node, ast.Call) and "import" in ast.dump(node.func).lower():
                importing.add(str(file.relative_to(PACKAGE)))
    assert importing == {"engines/duckdb.py"}


def test_sql_for_duckdb_is_composed_of_literals() -> None:
    """Templates and separators are in our source code; inserted values are quoted, bound or composed the same way."""
    calls = list(sql_calls("sql", "join_sql"))
    assert len({file for file, _ in calls}) > 3
    astray = [
        f"{file}:{call.lineno}"
        for file, call in calls
        if not (isinstance(call.args[0], ast.Constant) or is_name_of_literal(file, call.args[0]))
    ]
    assert astray == []


def is_name_of_literal(file: str, name: ast.expr) -> bool:
    """Whether every assignment to the name, in the whole file, is of a literal."""
    if not isinstance(name, ast.Name):
        return False
    assigned = [
        node.value
        for node in ast.walk(parsed(PACKAGE / file))
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id == name.id
    ]
    return bool(assigned) and all(isinstance(value, ast.Constant) for value in assigned)


def test_only_parsed_text_becomes_sql() -> None:
    allowed = {"engines/conditions.py", "engines/duckdb.py", "engines/sql.py", "records/query/sql.py"}
    assert {file for file, _ in sql_calls("checked_text", "Sql")} <= allowed
    assert "records/query/sql.py" not in {file for file, _ in sql_calls("Sql")}


def test_shipped_code_imports_nothing_of_headwater() -> None:
    """Headwater is not installed there."""
    own = "headwater.pipeline.worker"
    for file in sorted((PACKAGE / "pipeline" / "worker").glob("*.py")):
        for node in walk(parsed(file), at_import_time=False):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headwater"):
                assert (node.module or "").startswith(own), f"{file.name} imports {node.module}"
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("headwater") for alias in node.names), file.name


HEAVY = (
    *("pyspark", "py4j", "fastapi", "starlette", "openlineage", "alembic"),
    *("pandas", "numpy", "pyarrow", "cryptography", "requests"),
)


def loaded(script: str, *arguments: str) -> set[str]:
    """The heavy packages that a fresh Python has loaded after running ``script``."""
    return loaded_after_each([script], *arguments)[0]


def loaded_after_each(scripts: list[str], *arguments: str) -> list[set[str]]:
    """The same, after each of several scripts that one Python runs in sequence."""
    tell = f"import sys\nprint([name for name in {HEAVY} if name in sys.modules])"
    whole = "\n".join(f"{script}\n{tell}" for script in scripts)
    answer = subprocess.run([sys.executable, "-c", whole, *arguments], capture_output=True, text=True, check=True)
    return [set(ast.literal_eval(line)) for line in answer.stdout.splitlines() if line.startswith("[")]


LIGHT = (
    *("headwater", "headwater.store.store", "headwater.cli", "headwater.formats.openlineage.event"),
    *(
        "headwater.client",
        "headwater.records.ledger",
        "headwater.records.intake.requests",
        "headwater.cli.records.group",
    ),
    *("headwater.pipeline.declare.pipeline", "headwater.pipeline.declare.options", "headwater.pipeline.sinks"),
)


def test_entry_points_load_nothing_heavy() -> None:
    """All in one Python: a package that one of them would load alone is loaded then as well."""
    after = loaded_after_each([f"import {module}" for module in LIGHT])
    assert dict(zip(LIGHT, after, strict=True)) == {module: set() for module in LIGHT}


@pytest.mark.long
@pytest.mark.parametrize("module", LIGHT)
def test_each_entry_point_loads_nothing_heavy(module: str) -> None:
    assert loaded(f"import {module}") == set()


def test_the_server_loads_only_its_own_packages() -> None:
    assert loaded("import headwater.server.app.app") == {"fastapi", "starlette"}


def test_a_current_store_loads_no_migrations(sqlite_url: str) -> None:
    with Store(sqlite_url) as store:
        store.ingest(
            run_event(inputs=["a"], outputs=[used("x", facets={"columnLineage": column_lineage({"c": [("a", "c")]})})])
        )
    script = (
        "import sys, headwater\n"
        "with headwater.connect(sys.argv[1], create=False) as lin:\n"
        "    lin.upstream('x'); lin.upstream('x', column='c'); lin.impact('a'); lin.datasets(); lin.verify()\n"
        "    lin.run(lin.runs()[0].run_id)\n"
    )
    assert loaded(script, sqlite_url) == set()


def test_openlineage_classes_are_loaded_only_for_facets(sqlite_url: str) -> None:
    Store(sqlite_url).close()
    without = (
        "import sys, headwater\n"
        "from tests.support.events import run_event, ownership, used\n"
        "lin = headwater.connect(sys.argv[1])\n"
        "lin.ingest(run_event(inputs=['a'], outputs=['x']))\n"
    )
    with_facet = (
        "lin.ingest(run_event(run='2', inputs=[used('a', facets={'ownership': ownership('team')})]))\nlin.close()"
    )
    assert loaded_after_each([without, with_facet], sqlite_url) == [set(), {"openlineage", "requests"}]
