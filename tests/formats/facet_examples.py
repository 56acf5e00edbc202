"""OpenLineage's own facet schemas and their examples, read from the shared data, without network access."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tests.support.events import Json, facet

LOCATIONS = {
    "DataQualityAssertionsDatasetFacet": "inputFacets",  # an input facet by its schema, in spite of its name
    "InputDatasetFacet": "inputFacets",
    "OutputDatasetFacet": "outputFacets",
    "DatasetFacet": "dataset",
    "RunFacet": "run",
    "JobFacet": "job",
}


@dataclass(frozen=True)
class Example:
    schema: str
    """The name of the schema file."""
    definition: str | None
    """The definition in it, where the file allows more than one."""
    room: str
    """Where in an event it belongs: run, job, dataset, inputFacets or outputFacets."""
    name: str
    body: Json

    @property
    def label(self) -> str:
        return f"{self.schema}: {json.dumps(self.body)[:60]}"


class Schemas:
    def __init__(self, folder: Path) -> None:
        self._by_name = {file.stem: json.loads(file.read_bytes()) for file in (folder / "spec").rglob("*.json")}
        resources = [(schema["$id"], Resource.from_contents(schema)) for schema in self._by_name.values()]
        self._registry: Registry[Any] = Registry().with_resources(resources)

    def facets(self) -> Iterator[tuple[str, Json]]:
        """The standard facet schemas, by name."""
        return ((name, schema) for name, schema in self._by_name.items() if name.endswith("Facet"))

    def validator(self, example: Example) -> Draft202012Validator:
        schema = self._by_name[example.schema]
        if example.definition is not None:
            schema = {"properties": {example.name: {"$ref": f"{schema['$id']}#/$defs/{example.definition}"}}}
        return Draft202012Validator(schema, registry=self._registry)


def shared_examples(folder: Path) -> list[Example]:
    return [
        example(file.parent.name, *json.loads(file.read_bytes()).popitem())
        for file in sorted((folder / "facet-examples").rglob("*.json"))
    ]


def example(schema: str, name: str, body: Json) -> Example:
    if schema == "BaseSubsetDatasetFacet":
        side = "Input" if "inputCondition" in body else "Output"
        return Example(schema, f"{side}Subset{side}DatasetFacet", f"{side.lower()}Facets", name, body)
    if schema == "LineageFacet":
        room = "job" if "entries" in body else "dataset"
        return Example(schema, f"Lineage{room.capitalize()}Facet", room, name, body)
    room = next(room for suffix, room in LOCATIONS.items() if schema.endswith(suffix))
    return Example(schema, None, room, name, body)


def own_examples() -> list[Example]:
    """For facets without an upstream example, and for variants of a facet without one."""
    condition = {"type": "partition", "partitions": [{"identifier": "p", "dimensions": {"day": "2026-11-15"}}]}
    dependency = {
        "job": {"namespace": "scheduler", "name": "upstream"},
        "run": {"runId": "01936893-9751-7a91-a2a0-a51101a3970c"},
        "dependency_type": "DIRECT_INVOCATION",
        "sequence_trigger_rule": "FINISH_TO_START",
        "status_trigger_rule": "EXECUTE_EVERY_TIME",
    }
    parameter = {"key": "day", "name": "Day", "description": "the day to load", "value": "2026-11-15"}
    check = {"name": "not_null", "status": "pass", "severity": "error", "type": "not_null", "description": "no nulls"}
    return [
        example(
            "JobDependenciesRunFacet",
            "jobDependencies",
            facet(upstream=[dependency], downstream=[], trigger_rule="all"),
        ),
        example(
            "CatalogDatasetFacet",
            "catalog",
            facet(
                framework="iceberg",
                type="hive",
                name="lake",
                metadataUri="hive://metastore:9083",
                warehouseUri="s3://warehouse",
                source="spark",
                catalogProperties={"io": "s3"},
            ),
        ),
        example("InputStatisticsInputDatasetFacet", "inputStatistics", facet(rowCount=10, size=2048, fileCount=1)),
        example("ExecutionParametersRunFacet", "executionParameters", facet(parameters=[parameter])),
        example("TestRunFacet", "test", facet(tests=[check])),
        example("BaseSubsetDatasetFacet", "subset", facet(outputCondition=condition)),
    ]
