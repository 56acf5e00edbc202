"""One module has the names and schema URLs of Headwater's facets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import headwater
from headwater.formats.openlineage import facet_names
from headwater.formats.openlineage.facet_names import schema_url

PACKAGE = Path(headwater.__file__).parent
NAMES = {value for name, value in vars(facet_names).items() if name.endswith("_FACET")}


def literals() -> Iterator[tuple[str, str]]:
    """Every text in the code except docstrings, with its module."""
    for file in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(file.read_text())
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                yield file.relative_to(PACKAGE).as_posix(), node.value


def test_names_and_urls_are_defined_once() -> None:
    files = {file for file, text in literals() if text in NAMES or "urn:headwater:facet:" in text}
    assert files == {"formats/openlineage/facet_names.py"}


def test_schema_urls_are_those_of_stored_events() -> None:
    assert {name: schema_url(name) for name in sorted(NAMES)} == {
        "cdme.accountingLedger": "urn:headwater:facet:cdme.accountingLedger:1-0-0",
        "cdme.adjointMetadata": "urn:headwater:facet:adjointMetadata:1-0-0",
        "cdme.grainSafety": "urn:headwater:facet:cdme.grainSafety:1-0-0",
        "cdme.morphismTrace": "urn:headwater:facet:cdme.morphismTrace:1-0-0",
        "cdme.runManifest": "urn:headwater:facet:cdme.runManifest:1-0-0",
        "cdme.typeUnification": "urn:headwater:facet:cdme.typeUnification:1-0-0",
        "headwater_columnTypes": "urn:headwater:facet:columnTypes:1-0-0",
        "headwater_coverage": "urn:headwater:facet:coverage:1-0-0",
        "headwater_expectations": "urn:headwater:facet:headwater_expectations:1-0-0",
        "headwater_pipeline": "urn:headwater:facet:headwater_pipeline:1-0-0",
        "headwater_provenance": "urn:headwater:facet:headwater_provenance:1-0-0",
        "headwater_quality": "urn:headwater:facet:quality:1-0-0",
        "headwater_rows": "urn:headwater:facet:rows:1-0-0",
        "headwater_telemetry": "urn:headwater:facet:telemetry:1-0-0",
        "headwater_wia": "urn:headwater:facet:headwater_wia:1-0-0",
    }
