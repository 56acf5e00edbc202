"""Other tools can read the exports: GraphML in networkx, Parquet and JSON lines in DuckDB and Spark."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

import headwater as hw
from headwater.formats.mermaid import label
from headwater.formats.wia.elements import Document
from tests.exchange.graphs import CLEAN, CLEANING, RAW, complete_graph, written
from tests.support.events import run_event, used

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def graph() -> Document:
    return complete_graph()


@pytest.fixture
def exported(tmp_path: Path, graph: Document) -> Path:
    with hw.connect("memory://") as lineage:
        lineage.import_(written(graph, tmp_path / "given.json"))
        lineage.export(tmp_path / "graph.graphml", format="graphml")
        lineage.export(tmp_path / "tables", format="wia-parquet")
        lineage.export(tmp_path / "graph.jsonl", format="wia-jsonl")
    return tmp_path


def test_networkx_reads_graphml_with_its_types(exported: Path) -> None:
    import networkx

    read = networkx.read_graphml(exported / "graph.graphml")
    assert read.is_directed()
    assert set(read.nodes) == {RAW, CLEAN}
    node = read.nodes[RAW]
    assert (node["type"], node["name"], node["metadata_owner"]) == ("table", "raw_customers", "crm")
    ((source, target, edge),) = read.edges(data=True)
    assert (source, target, edge["id"]) == (RAW, CLEAN, CLEANING)
    assert (edge["type"], edge["metadata_duration_ms"]) == ("derived_from", 1500)
    assert list(networkx.topological_sort(read)) == [RAW, CLEAN]


def test_networkx_reads_names_that_xml_cannot_represent(tmp_path: Path) -> None:
    import networkx

    with hw.connect("memory://") as lineage:
        lineage.ingest(run_event(inputs=[used("a\x01b<&>\"'\r\n")], outputs=["ü]]>"]))
        lineage.export(tmp_path / "graph.graphml", format="graphml")
    read = networkx.read_graphml(tmp_path / "graph.graphml")
    assert sorted(node["name"] for node in read.nodes.values()) == ["a\ufffdb<&>\"'\ufffd\n", "ü]]>"]


def test_duckdb_reads_parquet_and_lines(exported: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        nodes = connection.execute(
            f"SELECT node_id, name, created_at, metadata_tags FROM '{exported}/tables/lineage_nodes.parquet' ORDER BY 1"
        ).fetchall()
        assert nodes[0][:2] == (RAW, "raw_customers")
        assert nodes[0][2].astimezone(UTC) == datetime(2025, 1, 1, tzinfo=UTC)
        assert nodes[0][3] == ["pii"]
        joined = connection.execute(
            f"SELECT source.name, target.name, metadata_records_processed"
            f" FROM '{exported}/tables/lineage_edges.parquet' edge"
            f" JOIN '{exported}/tables/lineage_nodes.parquet' source ON source.node_id = source_node_id"
            f" JOIN '{exported}/tables/lineage_nodes.parquet' target ON target.node_id = target_node_id"
        ).fetchall()
        assert joined == [("raw_customers", "cleaned_customers", 42)]
        for table, count in (("columns", 1), ("provenance", 1), ("quality", 1)):
            file = exported / "tables" / f"lineage_{table}.parquet"
            assert connection.execute(f"SELECT count(*) FROM '{file}'").fetchone() == (count,)
        events = connection.execute(
            f"SELECT event FROM read_json('{exported}/graph.jsonl', columns = {{event: 'VARCHAR'}})"
        )
        assert sorted(row[0] for row in events.fetchall()) == [
            *("column_lineage", "edge", "graph", "node", "node", "provenance", "quality")
        ]


def test_spark_reads_parquet_and_lines(exported: Path, spark: SparkSession) -> None:
    nodes = spark.read.parquet(str(exported / "tables" / "lineage_nodes.parquet"))
    edges = spark.read.parquet(str(exported / "tables" / "lineage_edges.parquet"))
    joined = edges.join(nodes, edges.source_node_id == nodes.node_id).select("name", "metadata_duration_ms").collect()
    assert [tuple(row) for row in joined] == [("raw_customers", 1500)]
    assert dict(nodes.dtypes)["created_at"] == "timestamp"
    assert spark.read.json(str(exported / "graph.jsonl")).count() == 7


def test_names_in_mermaid_are_escaped(tmp_path: Path) -> None:
    with hw.connect("memory://") as lineage:
        lineage.ingest(run_event(inputs=['a"]; click x "javascript:y"', "<b>"], outputs=["ok/b.c-d"]))
        lineage.export(tmp_path / "graph.mmd", format="mermaid")
    text = (tmp_path / "graph.mmd").read_text()
    assert text.startswith("flowchart LR\n")
    assert '["ok/b.c-d"]' in text.replace("[(", "[").replace(")]", "]")
    assert "click x #34;" in text
    assert "#60;b#62;" in text
    assert label("ä\u202e") == "ä#65533;"
