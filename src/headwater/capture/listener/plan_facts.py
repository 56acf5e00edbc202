"""The facts that are read from Spark's objects, as paths of getters for jvm/PlanFacts.java.

A fact that a version of Spark or a source does not have is missing; the readers of the facts take that as "not known".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Required, TypedDict


class Metric(TypedDict, total=False):
    value: int
    type: str


Facts = TypedDict(
    "Facts",
    {
        "class": Required[str],
        "parent": int,
        "ids": list[int],
        # of a table of a catalog
        "table": str,
        "database": str | None,
        "catalog": str | None,
        "location": str | None,
        "provider": str | None,
        "tableType": str | None,
        # of a V2 table
        "tableClass": str,
        "tableName": str,
        "properties": Mapping[str, str],
        "roots": list[str],
        "format": str,
        "url": str,
        "query": str,
        "version": int,
        "path": str,
        "innerClass": str,
        "innerLocation": str,
        "innerVersion": int,
        "deltaVersion": int,
        "v1Table": str,
        "v1Database": str,
        "v1Catalog": str,
        "v1Location": str,
        "v1Provider": str,
        "v1TableType": str,
        # of a relation, a scan or an RDD
        "catalogName": str,
        "catalogUrl": str,
        "namespace": list[str],
        "identifier": str,
        "relation": str,
        "index": str,
        "options": dict[str, str],
        "shortName": str,
        "kafka": dict[str, str],
        "scanClass": str,
        "source": str,
        "rdd": int,
        "rddName": str,
        "width": int,
        "files": list[object],
        "folders": str,
        "line": int,
        "outputIds": list[int],
        "projections": list[str],
        # of a command
        "temporary": bool,
        "sinkHash": int,
        "bareSinkHash": int,
        "mode": str,
        "staticPartitions": dict[str, str | None],
        "overwrite": bool,
        "dynamicOverwrite": bool,
        "overwriteCondition": str,
        "ifAbsent": bool,
        "viewType": str,
        "viewColumns": list[str],
        "dropped": str,
        "changed": str,
        "newParts": list[str],
        "partition": dict[str, str | None],
        "isView": bool,
        "ifExists": bool,
        "sink": str,
        "sql": str,
        "innerSql": str,
        # of a physical node
        "name": str,
        "metrics": dict[str, Metric],
        "querySchema": str,
    },
    total=False,
)
"""The facts about one node of a plan, as jvm/PlanFacts.java states them: its class, the index of its parent among the
nodes, and what the queries below find."""


class FactQueries(TypedDict):
    """By class: the paths of its children, and the paths of its facts by their keys."""

    children: Mapping[str, Sequence[str]]
    facts: Mapping[str, Mapping[str, str]]


def _catalog_table_facts(path: str) -> dict[str, str]:
    """Of a `CatalogTable`."""
    return {
        "table": f"{path}.identifier.table",
        "database": f"{path}.identifier.database",
        "catalog": f"{path}.identifier.catalog",
        "location": f"{path}.storage.locationUri",
        "provider": f"{path}.provider",
        "tableType": f"{path}.tableType.name",
    }


def _table_facts(table_path: str) -> dict[str, str]:
    """Of a V2 `Table`: file tables, JDBC, Kafka, Iceberg and Delta each have a few of these."""
    prefix = f"{table_path}." if table_path else ""
    return {
        "tableClass": f"{prefix}getClass.getName",
        "tableName": f"{prefix}name",
        "properties": f"{prefix}properties",
        "roots": f"{prefix}fileIndex.rootPaths",
        "format": f"{prefix}formatName",
        "url": f"{prefix}jdbcOptions.url",
        "query": f"{prefix}jdbcOptions.tableOrQuery",
        "location": f"{prefix}table.location",
        "version": f"{prefix}table.currentSnapshot.snapshotId",
        "path": f"{prefix}path",
        # MERGE, UPDATE and DELETE read through a table around the table.
        "innerClass": f"{prefix}table.getClass.getName",
        "innerLocation": f"{prefix}table.table.location",
        "innerVersion": f"{prefix}table.table.currentSnapshot.snapshotId",
        "deltaVersion": f"{prefix}initialSnapshot.version",
        **{f"v1{key[0].upper()}{key[1:]}": path for key, path in _catalog_table_facts(f"{prefix}v1Table").items()},
    }


_IDS = {"ids": "output.*.exprId.id"}
_IDENTIFIER = {"catalogName": "catalog.name", "namespace": "identifier.namespace", "identifier": "identifier.name"}
_QUERY = {"querySchema": "query.schema.json"}
_RELATION = {
    "relation": "relation.getClass.getSimpleName",
    "roots": "relation.location.rootPaths",
    "index": "relation.location.getClass.getSimpleName",
    "options": "relation.options",
    "format": "relation.fileFormat",
    "shortName": "relation.fileFormat.shortName",
    "url": "relation.jdbcOptions.url",
    "query": "relation.jdbcOptions.tableOrQuery",
    "deltaVersion": "relation.location.version",
    "kafka": "relation.@sourceOptions",
}

LOGICAL: FactQueries = {
    "children": {
        "AppendData": ["table"],
        "OverwriteByExpression": ["table"],
        "OverwritePartitionsDynamic": ["table"],
        "ReplaceData": ["originalTable", "table"],
        "WriteDelta": ["originalTable", "table"],
        "InsertIntoDataSourceCommand": ["logicalRelation"],
        "CreateTableAsSelect": ["name"],
        "ReplaceTableAsSelect": ["name"],
        "CreateView": ["child"],
        "CreateViewCommand": ["plan"],
        "SaveAsV1TableCommand": ["query"],
        "WriteToMicroBatchDataSource": ["relation", "table"],
        "MergeIntoCommand": ["target", "source"],
        "UpdateCommand": ["target"],
        "DeleteCommand": ["target"],
        # The parents of an RDD: the data comes from its files, even if the code above them cannot be read.
        "LogicalRDD": ["rdd"],
        "ExternalRDD": ["rdd"],
        "RDD": ["dependencies.*.rdd"],
        "*": ["children", "innerChildren", "subqueries"],
    },
    "facts": {
        "LogicalRelation": {**_IDS, **_RELATION, **_catalog_table_facts("catalogTable")},
        "HiveTableRelation": {**_IDS, **_catalog_table_facts("tableMeta")},
        "DataSourceV2Relation": {**_IDS, **_table_facts("table"), **_IDENTIFIER, "options": "options"},
        "StreamingRelationV2": {**_IDS, **_table_facts("table"), **_IDENTIFIER, "options": "extraOptions"},
        "StreamingDataSourceV2Relation": {
            **_IDS,
            **_table_facts("table"),
            **_IDENTIFIER,
            "options": "options",
            "scanClass": "scan.getClass.getName",  # before Spark 4 it has no table
        },
        "StreamingDataSourceV2ScanRelation": {
            **_IDS,
            **_table_facts("relation.table"),
            "catalogName": "relation.catalog.name",
            "namespace": "relation.identifier.namespace",
            "identifier": "relation.identifier.name",
            "options": "relation.options",
        },
        "StreamingExecutionRelation": {**_IDS, "source": "source"},
        "LogicalRDD": {**_IDS, "rdd": "rdd.id", "rddName": "rdd.name"},
        "ExternalRDD": {**_IDS, "rdd": "rdd.id"},
        "LocalRelation": {**_IDS, "line": "origin.line"},  # of VALUES in a statement, not of a frame of the program
        "MemoryPlan": {**_IDS, "sinkHash": "sink.hashCode"},
        "Project": {"width": "projectList.size"},
        "FileScanRDD": {"files": "filePartitions.*.files.*.toPath"},
        "HadoopRDD": {"folders": "getJobConf.get('mapreduce.input.fileinputformat.inputdir')"},
        "NewHadoopRDD": {"folders": "getConf.get('mapreduce.input.fileinputformat.inputdir')"},
        "View": {**_IDS, **_catalog_table_facts("desc"), "temporary": "isTempView"},
        # What is written, and where to.
        "InsertIntoHadoopFsRelationCommand": {
            **_QUERY,
            **_catalog_table_facts("catalogTable"),
            "path": "outputPath",
            "mode": "mode",
            "format": "fileFormat",
            "shortName": "fileFormat.shortName",
            "staticPartitions": "staticPartitions",
            "dynamicOverwrite": "dynamicPartitionOverwrite",
        },
        "OverwriteByExpression": {**_QUERY, "overwriteCondition": "deleteExpr"},
        **dict.fromkeys(
            ("AppendData", "OverwritePartitionsDynamic", "ReplaceData", "WriteDelta", "CreateView"), _QUERY
        ),
        "InsertIntoDataSourceCommand": _QUERY,
        "CreateDataSourceTableAsSelectCommand": {**_QUERY, **_catalog_table_facts("table"), "mode": "mode"},
        "SaveAsV1TableCommand": {**_QUERY, **_catalog_table_facts("tableDesc"), "mode": "mode"},
        "InsertIntoHiveTable": {
            **_QUERY,
            **_catalog_table_facts("table"),
            "staticPartitions": "partition",
            "overwrite": "overwrite",
        },
        "CreateHiveTableAsSelectCommand": {**_QUERY, **_catalog_table_facts("tableDesc"), "mode": "mode"},
        "InsertIntoHiveDirCommand": {**_QUERY, "path": "storage.locationUri"},
        "InsertIntoDataSourceDirCommand": {**_QUERY, "path": "storage.locationUri", "format": "provider"},
        "SaveIntoDataSourceCommand": {
            **_QUERY,
            "options": "options",
            "mode": "mode",
            "provider": "dataSource.getClass.getName",
        },
        "CreateTableAsSelect": {
            **_QUERY,
            "location": "tableSpec.location",
            "provider": "tableSpec.provider",
            "ifAbsent": "ignoreIfExists",
        },
        "ReplaceTableAsSelect": {**_QUERY, "location": "tableSpec.location", "provider": "tableSpec.provider"},
        "ResolvedIdentifier": {
            "catalogName": "catalog.name",
            "namespace": "identifier.namespace",
            "identifier": "identifier.name",
            "catalogUrl": "catalog.@options.url",  # of a database behind JDBC
        },
        "CreateViewCommand": {
            "table": "name.table",
            "database": "name.database",
            "catalog": "name.catalog",
            "querySchema": "plan.schema.json",
            "viewType": "viewType",
            "viewColumns": "userSpecifiedColumns.*._1",
        },
        "DropTableCommand": {
            "dropped": "tableName.table",
            "database": "tableName.database",
            "catalog": "tableName.catalog",
            "isView": "isView",
            "ifExists": "ifExists",
        },
        "DropTable": {"ifExists": "ifExists"},
        # What changes a table without a query.
        "AlterTableRenameCommand": {
            "changed": "oldName.table",
            "database": "oldName.database",
            "catalog": "oldName.catalog",
            "isView": "isView",
        },
        "RenameTable": {"newParts": "newName", "isView": "isView"},
        "TruncateTableCommand": {"changed": "tableName.table", "partition": "partitionSpec"},
        "AlterTableAddPartitionCommand": {"changed": "tableName.table"},
        "AlterTableSetLocationCommand": {"changed": "tableName.table", "partition": "partitionSpec"},
        "LoadDataCommand": {
            "changed": "table.table",
            "source": "path",
            "overwrite": "isOverwrite",
            "partition": "partition",
        },
        "ResolvedTable": {**_table_facts("table"), **_IDENTIFIER, "querySchema": "table.schema.json"},
        "AlterViewAsCommand": {**_QUERY, "table": "name.table", "database": "name.database", "catalog": "name.catalog"},
        "WriteToMicroBatchDataSourceV1": {
            **_QUERY,
            **_catalog_table_facts("catalogTable"),
            "sink": "sink",
            "mode": "outputMode",
        },
        "WriteToMicroBatchDataSource": {
            **_QUERY,
            **_table_facts("table"),
            "options": "writeOptions",
            # Which object it is: one in memory is read from as well. Newer versions have a relation around it.
            "sinkHash": "table.table.hashCode",
            "bareSinkHash": "table.hashCode",
        },
        "CreateDeltaTableCommand": {**_QUERY, **_catalog_table_facts("table")},
        "MergeIntoCommand": _catalog_table_facts("catalogTable"),
        "UpdateCommand": _catalog_table_facts("catalogTable"),
        "DeleteCommand": _catalog_table_facts("catalogTable"),
        "WriteIntoDelta": {"path": "deltaLog.dataPath", "querySchema": "data.schema.json"},
    },
}

EXPAND: FactQueries = {
    "children": LOGICAL["children"],
    "facts": {"Expand": {"outputIds": "output.*.exprId.id", "projections": "projections.*.toJSON"}},
}

TABLE: FactQueries = {"children": {}, "facts": {"*": _table_facts("")}}

CATALOG_TABLE: FactQueries = {
    "children": {},
    "facts": {
        "*": {
            "table": "identifier.table",
            "database": "identifier.database",
            "catalog": "identifier.catalog",
            "location": "storage.locationUri",
            "provider": "provider",
            "tableType": "tableType.name",
            "querySchema": "schema.json",
            "partition": "spec",  # of one of its partitions
        }
    },
}

# Commands that Spark makes while it analyzes have lost the statement's text; the query within still has it.
TOP: FactQueries = {
    "children": {},
    "facts": {"*": {**_IDS, "sql": "origin.sqlText", "innerSql": "innerChildren.head.origin.sqlText"}},
}

PHYSICAL: FactQueries = {
    "children": {
        "AdaptiveSparkPlanExec": ["executedPlan"],
        "QueryStageExec": ["plan"],
        "InMemoryTableScanExec": ["relation.cachedPlan"],
        "CommandResultExec": ["commandPhysicalPlan"],
        "*": ["children", "subqueries"],
    },
    "facts": {
        "*": {"name": "nodeName", "metrics": "metrics"},
        "FileSourceScanExec": {"ids": "output.*.exprId.id"},
        "BatchScanExec": {"ids": "output.*.exprId.id"},
        "RowDataSourceScanExec": {"ids": "output.*.exprId.id"},
        "HiveTableScanExec": {"ids": "output.*.exprId.id"},
        "RDDScanExec": {"ids": "output.*.exprId.id"},
        "LocalTableScanExec": {"ids": "output.*.exprId.id"},
        "MicroBatchScanExec": {"ids": "output.*.exprId.id"},
    },
}
