"""What is asked of Spark's objects, as paths of getters for the survey (jvm/Survey.java).

Whatever a version or a source does not have stays unanswered; the readers of the answers take that as "not known".
"""

from __future__ import annotations

from typing import Any

Questions = dict[str, Any]


def _catalog_table(at: str) -> dict[str, str]:
    """Of a `CatalogTable`."""
    return {
        "table": f"{at}.identifier.table",
        "database": f"{at}.identifier.database",
        "catalog": f"{at}.identifier.catalog",
        "location": f"{at}.storage.locationUri",
        "provider": f"{at}.provider",
        "tableType": f"{at}.tableType.name",
    }


def _table(of: str) -> dict[str, str]:
    """Of a V2 `Table`: file tables, JDBC, Kafka, Iceberg and Delta each answer a few of these."""
    at = f"{of}." if of else ""
    return {
        "tableClass": f"{at}getClass.getName",
        "tableName": f"{at}name",
        "properties": f"{at}properties",
        "roots": f"{at}fileIndex.rootPaths",
        "format": f"{at}formatName",
        "url": f"{at}jdbcOptions.url",
        "query": f"{at}jdbcOptions.tableOrQuery",
        "location": f"{at}table.location",
        "version": f"{at}table.currentSnapshot.snapshotId",
        "path": f"{at}path",
        # MERGE, UPDATE and DELETE read through a table around the table.
        "innerClass": f"{at}table.getClass.getName",
        "innerLocation": f"{at}table.table.location",
        "innerVersion": f"{at}table.table.currentSnapshot.snapshotId",
        "deltaVersion": f"{at}initialSnapshot.version",
        **{f"v1{key[0].upper()}{key[1:]}": path for key, path in _catalog_table(f"{at}v1Table").items()},
    }


_IDS = {"ids": "output.*.exprId.id"}
_IDENTIFIER = {"catalogName": "catalog.name", "namespace": "identifier.namespace", "identifier": "identifier.name"}
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

LOGICAL: Questions = {
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
        "WriteToMicroBatchDataSource": ["relation"],
        "MergeIntoCommand": ["target", "source"],
        "UpdateCommand": ["target"],
        "DeleteCommand": ["target"],
        # What an RDD was made of: files under code that nobody can read are still where the data came from.
        "LogicalRDD": ["rdd"],
        "ExternalRDD": ["rdd"],
        "RDD": ["dependencies.*.rdd"],
        "*": ["children", "innerChildren", "subqueries"],
    },
    "facts": {
        "LogicalRelation": {**_IDS, **_RELATION, **_catalog_table("catalogTable")},
        "HiveTableRelation": {**_IDS, **_catalog_table("tableMeta")},
        "DataSourceV2Relation": {**_IDS, **_table("table"), **_IDENTIFIER, "options": "options"},
        "StreamingRelationV2": {**_IDS, **_table("table"), **_IDENTIFIER, "options": "extraOptions"},
        "StreamingDataSourceV2Relation": {
            **_IDS,
            **_table("table"),
            **_IDENTIFIER,
            "options": "options",
            "scanClass": "scan.getClass.getName",  # before Spark 4 it does not know its table
        },
        "StreamingDataSourceV2ScanRelation": {
            **_IDS,
            **_table("relation.table"),
            "catalogName": "relation.catalog.name",
            "namespace": "relation.identifier.namespace",
            "identifier": "relation.identifier.name",
            "options": "relation.options",
        },
        "StreamingExecutionRelation": {**_IDS, "source": "source"},
        "LogicalRDD": {**_IDS, "rdd": "rdd.id", "rddName": "rdd.name"},
        "ExternalRDD": {**_IDS, "rdd": "rdd.id"},
        "LocalRelation": _IDS,
        "Project": {"width": "projectList.size"},
        "FileScanRDD": {"files": "filePartitions.*.files.*.toPath"},
        "HadoopRDD": {"folders": "getJobConf.get('mapreduce.input.fileinputformat.inputdir')"},
        "NewHadoopRDD": {"folders": "getConf.get('mapreduce.input.fileinputformat.inputdir')"},
        "View": {**_IDS, **_catalog_table("desc"), "temporary": "isTempView"},
        # What is written, and where to.
        "InsertIntoHadoopFsRelationCommand": {
            **_catalog_table("catalogTable"),
            "path": "outputPath",
            "mode": "mode",
            "format": "fileFormat",
            "shortName": "fileFormat.shortName",
            "staticPartitions": "staticPartitions",
        },
        "CreateDataSourceTableAsSelectCommand": {**_catalog_table("table"), "mode": "mode"},
        "SaveAsV1TableCommand": {**_catalog_table("tableDesc"), "mode": "mode"},
        "InsertIntoHiveTable": {**_catalog_table("table"), "staticPartitions": "partition", "overwrite": "overwrite"},
        "CreateHiveTableAsSelectCommand": {**_catalog_table("tableDesc"), "mode": "mode"},
        "InsertIntoHiveDirCommand": {"path": "storage.locationUri"},
        "InsertIntoDataSourceDirCommand": {"path": "storage.locationUri", "format": "provider"},
        "SaveIntoDataSourceCommand": {"options": "options", "mode": "mode", "provider": "dataSource.getClass.getName"},
        "CreateTableAsSelect": {
            "location": "tableSpec.location",
            "provider": "tableSpec.provider",
            "ifAbsent": "ignoreIfExists",
        },
        "ReplaceTableAsSelect": {"location": "tableSpec.location", "provider": "tableSpec.provider"},
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
        "AlterViewAsCommand": {"table": "name.table", "database": "name.database", "catalog": "name.catalog"},
        "WriteToMicroBatchDataSourceV1": {**_catalog_table("catalogTable"), "sink": "sink", "mode": "outputMode"},
        "WriteToMicroBatchDataSource": {**_table("table"), "options": "writeOptions"},
        "CreateDeltaTableCommand": _catalog_table("table"),
        "MergeIntoCommand": _catalog_table("catalogTable"),
        "UpdateCommand": _catalog_table("catalogTable"),
        "DeleteCommand": _catalog_table("catalogTable"),
        "WriteIntoDelta": {"path": "deltaLog.dataPath"},
    },
}

TABLE: Questions = {"children": {}, "facts": {"*": _table("")}}

# Commands that Spark makes while it analyzes have lost the statement's text; the query within still has it.
TOP: Questions = {
    "children": {},
    "facts": {"*": {**_IDS, "sql": "origin.sqlText", "innerSql": "innerChildren.head.origin.sqlText"}},
}

PHYSICAL: Questions = {
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
