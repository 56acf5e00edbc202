"""What is told keeps to the schemas that OpenLineage publishes: the event as a whole, and each of its facets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import headwater as hw
from tests.capture.telling import Json
from tests.capture.watching import Watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OWN = ("headwater_", "cdme.")


class Published:
    """The schemas, read from the shared data; nothing is fetched."""

    def __init__(self, folder: Path) -> None:
        schemas = [json.loads(file.read_bytes()) for file in (folder / "spec").rglob("*.json")]
        registry: Registry[Any] = Registry().with_resources([(s["$id"], Resource.from_contents(s)) for s in schemas])
        core = next(schema for schema in schemas if schema["$id"].endswith("OpenLineage.json"))
        self._event = Draft202012Validator(core, registry=registry)
        self._registry = registry

    def problems(self, event: Json) -> Iterator[str]:
        yield from (f"{error.json_path}: {error.message[:200]}" for error in self._event.iter_errors(event))
        for place, name, facet in facets_of(event):
            if not name.startswith(OWN):
                validator = Draft202012Validator({"$ref": facet["_schemaURL"]}, registry=self._registry)
                yield from (f"{place}.{name}: {error.message[:200]}" for error in validator.iter_errors(facet))


def facets_of(event: Json) -> Iterator[tuple[str, str, Json]]:
    holders = [("run", event.get("run")), ("job", event.get("job")), ("dataset", event.get("dataset"))]
    holders += [(side, dataset) for side in ("inputs", "outputs") for dataset in event.get(side, ())]
    for place, holder in holders:
        for room in ("facets", "inputFacets", "outputFacets"):
            for name, facet in ((holder or {}).get(room) or {}).items():
                yield place, name, facet


@pytest.fixture
def told(spark: SparkSession, watch: Watch, here: Path, shop: Path) -> list[Json]:
    """Events of every kind there is, with every facet that we send."""
    orders, customers = spark.read.parquet(f"{shop}/by_day/day=2026-11-14"), spark.table("shop.customers")
    with hw.run("daily", partition="2026-11-14"):
        orders.join(customers, "id").groupBy("name").agg({"amount": "sum"}).toDF("name", "total").write.csv(f"{here}/a")
    spark.sql("CREATE TABLE t USING parquet PARTITIONED BY (id) AS SELECT twice, id FROM shop.big")
    spark.sql("CREATE VIEW v AS SELECT id, md5(cast(twice AS string)) AS hidden FROM t")
    with pytest.raises(Exception, match="not this"):
        spark.sql("SELECT CAST(raise_error('not this') AS int) AS x").write.parquet(f"{here}/failed")
    source = spark.readStream.schema("id int").parquet(f"{shop}/orders").writeStream.format("parquet")
    source = source.option("path", f"{here}/streamed").option("checkpointLocation", f"{here}/cp")
    source.trigger(availableNow=True).start().awaitTermination()
    return watch.new_events()


def test_every_event_keeps_to_the_published_schemas(told: list[Json], shared_data: Path) -> None:
    published = Published(shared_data)
    assert [problem for event in told for problem in published.problems(event)] == []


def test_every_facet_is_there(told: list[Json]) -> None:
    found = {(place, name) for event in told for place, name, _ in facets_of(event)}
    assert found == {
        *(("run", name) for name in ("errorMessage", "headwater_telemetry", "parent", "processing_engine")),
        *(("run", f"cdme.{name}") for name in ("grainSafety", "morphismTrace", "runManifest", "typeUnification")),
        *(("job", name) for name in ("jobType", "lineage", "sourceCodeLocation", "sql")),
        *(("inputs", name) for name in ("catalog", "dataSource", "datasetType", "schema", "storage", "symlinks")),
        *(("inputs", name) for name in ("inputStatistics", "subset")),
        *(("outputs", name) for name in ("catalog", "columnLineage", "dataSource", "datasetType", "schema", "storage")),
        *(("outputs", name) for name in ("headwater_columnTypes", "headwater_coverage", "lifecycleStateChange")),
        *(("outputs", name) for name in ("headwater_rows", "outputStatistics", "subset", "symlinks")),
        *(("dataset", name) for name in ("catalog", "columnLineage", "dataSource", "datasetType", "lineage", "schema")),
        *(("dataset", name) for name in ("headwater_columnTypes", "headwater_coverage")),
    }


def test_a_wrong_event_is_found(told: list[Json], shared_data: Path) -> None:
    """The check can fail: in the event itself, and within a facet."""
    published = Published(shared_data)
    event = told[0]
    assert list(published.problems(event | {"eventTime": None}))
    wrong = json.loads(json.dumps(event))
    wrong["job"]["facets"]["jobType"]["processingType"] = 1
    assert list(published.problems(wrong))
