"""The table "What a change touches" in CONTRIBUTING.md: its files exist, its counts are right, and no other file knows
what changes.

For a kind of change the one that was made last stands as the example: the files that name it are those that the next
one will touch.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

import pytest

from headwater.exchange.export_formats import DETAILS, Format
from headwater.model.runs import Run
from headwater.plan import operator_traits
from headwater.store.fold.rows import RunRow
from headwater.store.schema.tables import run

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "headwater"
ROW = re.compile(r"^\| (?P<change>[^|]+) \| (?P<count>\d): (?P<files>[^|]+) \|$", re.MULTILINE)
MOST = {
    "a Spark operator that passes rows and columns on": 1,
    "a rule of visibility": 1,
    "an option of `headwater trace`": 2,
    "a facet of Headwater's own in captured events": 2,
    "an export format": 3,
    "a field of a record": 4,
    "another SQL database": 4,
    "a kind of pipeline node that Spark computes": 5,
    "a column of runs": 5,
}
"""More than these would mean that a fact has two places."""


def table() -> dict[str, tuple[int, str]]:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## What a change touches")[2]
    return {match["change"]: (int(match["count"]), match["files"]) for match in ROW.finditer(text)}


def naming(pattern: str, files: Iterable[Path] | None = None) -> set[str]:
    """The modules whose code, without docstrings and comments, has a name or a text that the pattern matches."""
    sought = re.compile(pattern)
    sources = sorted(PACKAGE.rglob("*.py")) if files is None else files
    return {
        str(file.relative_to(PACKAGE))
        for file in sources
        if "migrations" not in file.parts and any(sought.search(word) for word in words(file))
    }


def words(file: Path) -> Iterable[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in alone:
                yield text
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.keyword(arg=str(name)):
                yield name


def test_the_table_lists_the_changes() -> None:
    assert table().keys() == MOST.keys()


@pytest.mark.parametrize("change", MOST)
def test_the_files_are_there_and_counted(change: str) -> None:
    count, listed = table()[change]
    paths = re.findall(r"`([\w/]+\.(?:py|toml))`", listed)
    missing = [path for path in paths if not (PACKAGE / path).is_file() and not (ROOT / path).is_file()]
    assert missing == []
    new = len(re.findall(r"\ba (?:migration|module)\b", listed))
    assert len(paths) + new == count <= MOST[change]


def test_an_operator() -> None:
    """No other source names the operators whose rows and columns stay as they are, but where one is special."""
    names = operator_traits.operators_with(lambda traits: traits.columns_unchanged and traits.row_by_row)
    names -= {"Filter", "Sort", "View"}  # which have rules of their own
    assert len(names) == 5
    quoted = rf"^({'|'.join(sorted(names))})$"
    assert naming(quoted) == {
        "plan/operator_traits.py",
        "checks/naming.py",  # a plain read has an alias at the most
        "pipeline/items/appending.py",  # the mark is an alias
    }
    in_java = re.compile("|".join(f'"{name}"' for name in sorted(names)))
    assert not [file.name for file in PACKAGE.rglob("*.java") if in_java.search(file.read_text(encoding="utf-8"))]


def test_a_facet() -> None:
    in_capture = sorted((PACKAGE / "capture").rglob("*.py"))
    for facet in ("COVERAGE_FACET", "COLUMN_TYPES_FACET", "TELEMETRY_FACET", "ADJOINT_FACET"):
        assert naming(f"^{facet}$", in_capture) == {"capture/events/facets.py"}


def test_an_export_format() -> None:
    assert DETAILS.keys() == set(Format)
    assert naming("^mermaid$") == {"exchange/export_formats.py"}


def test_a_kind_of_pipeline_node() -> None:
    assert naming("^AggregateNode$") == {
        "pipeline/declare/nodes.py",
        "pipeline/declare/pipeline.py",
        "pipeline/run/steps.py",
    }


def test_another_database() -> None:
    """Beside the files of the table, code speaks of a database only where it is not the store's."""
    theirs = {
        "capture/naming/jdbc.py",  # databases that jobs read
        "capture/naming/queries.py",
        "examples/make_orders.py",
        "capturing.py",  # addresses that need no look by the store
        "cli/serve.py",  # help and an error that recommend one
        "server/app/serving.py",
        "store/schema/tables.py",  # an index of another kind
    }
    assert naming("(?i)postgres|psycopg") == theirs | {
        "store/engine/database.py",
        "store/engine/dialect.py",
        "store/records/scan.py",
    }


def test_a_column_of_runs() -> None:
    """The fold and the queries take columns and fields by their names."""
    composed = {"job", "parent_run_id", "state"}
    assert {field.name for field in fields(Run)} - composed <= set(run.c.keys())
    assert set(run.c.keys()) <= {field.name for field in fields(RunRow)}
    naming_one = naming("^nominal_end$")
    shown = {"assurance/report/intent.py", "server/marquez/shapes.py"}
    assert naming_one - shown <= {
        "model/runs.py",
        "store/fold/rows.py",
        "store/schema/tables.py",
        "cli/render/runs.py",
    }
