"""What one execution reads and writes: from Spark's plan and the facts about its leaves to named datasets and
columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from headwater.capture.events.column_types import column_types
from headwater.capture.events.driver_gaps import with_driver_gaps
from headwater.capture.events.inputs import InputColumn, WriteInput, WriteInputs, name_memory
from headwater.capture.events.plan_cuts import CutPlan, CutPlans, PlanCut
from headwater.capture.events.rdd_inputs import rdd_inputs, rdd_paths
from headwater.capture.events.written_schema import columns_of_view, query_fields, unread_columns, with_types
from headwater.capture.listener.drops import DropTracker
from headwater.capture.listener.jvm import Bridge
from headwater.capture.listener.plan_facts import Facts
from headwater.capture.naming.catalogs import Catalogs
from headwater.capture.naming.dataset_ref import DatasetRef
from headwater.capture.naming.jobs import job_name
from headwater.capture.naming.paths import file_datasets
from headwater.capture.naming.plan_sources import LeafDatasets, no_columns, read_leaf, table_dataset
from headwater.capture.naming.targets import read_target
from headwater.errors import PlanUnreadable
from headwater.jvm import JavaObject
from headwater.plan.commands import WriteCommand, read_write
from headwater.plan.lineage import Gap, LineageSource, PlanLineage, PlanOutputColumn
from headwater.plan.trace import trace_plan, trace_write
from headwater.plan.tree import PlanNode, read_plan

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame

_MAKES_V1_TABLE = ("CreateDataSourceTableAsSelectCommand", "CreateHiveTableAsSelectCommand", "SaveAsV1TableCommand")
_MAKES_V2_TABLE = ("CreateTableAsSelect", "ReplaceTableAsSelect")
_FILLS_V2_TABLE = ("AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic", "ReplaceData", "WriteDelta")
_CHANGES_ROWS = ("ReplaceData", "WriteDelta")  # what MERGE, UPDATE and DELETE become
_MODES = {
    **{"Append": "append", "Overwrite": "overwrite", "ErrorIfExists": "create", "Ignore": "create"},
    "Complete": "overwrite",  # a stream whose batches each replace the one before
}
_REPLACING = frozenset({"overwrite", "create", "replace", "view", "rename", "partition"})
_MAKES = re.compile(r"\s*(create|alter|replace|insert|with|from)\b", re.I)
_MAX_COLUMNS = 5_000  # columns over all projections; beyond that they are collapsed before the plan is read

LeafResolver = Callable[[PlanNode], PlanNode | None]


@dataclass(frozen=True)
class CapturedWrite:
    """One write: target, inputs and column lineage. ``whole`` are the columns that decide over whole rows."""

    command: str
    kind: str
    target: DatasetRef
    columns: tuple[PlanOutputColumn, ...]
    inputs: tuple[WriteInput, ...]
    fields: Mapping[str, tuple[InputColumn, ...]]
    whole: tuple[InputColumn, ...]
    gaps: tuple[Gap, ...]
    sql: str | None = None
    column_types: Mapping[str, str] = field(default_factory=dict)
    """In the words of WIA-DATA-008."""
    views: tuple[ViewDefinition, ...] = ()
    if_absent: bool = False
    """It writes nothing if the target exists."""
    plan: WriteCommand | None = field(default=None, compare=False, repr=False)
    """The plan itself, until the write's evidence has been taken."""
    cut_plans: tuple[PlanNode, ...] = field(default=(), compare=False, repr=False)
    """The plans that DataFrames in it were cut off from, until then."""
    cuts: tuple[PlanCut, ...] = field(default=(), compare=False, repr=False)
    """The leaves where they were cut off, outer ones before those behind them."""
    target_settled: bool = True
    """False while the target's location is unknown: a catalog chooses it when it creates the table."""
    partly: bool = False
    """It overwrites only some rows or partitions of the target, which may be others each time."""

    @property
    def is_certain(self) -> bool:
        """Whether it is certain, before the write has ended, that it writes, and where."""
        return self.target_settled and not self.if_absent

    @property
    def statement(self) -> Hashable:
        """What tells this statement from others that write the target: what it does, and what flows where. None if it
        replaces the whole target, or the partitions it names. Its literals are not part of it: in a loop they differ
        each time."""
        if self.kind in _REPLACING and not self.partly:
            return None
        flows = frozenset((name, _flow_keys(columns)) for name, columns in self.fields.items())
        inputs = frozenset(item.dataset.key for item in self.inputs)
        return self.command, self.kind, inputs, flows, _flow_keys(self.whole)


@dataclass(frozen=True)
class ViewDefinition:
    """A view that was read, and its definition: the view may have been created without capture."""

    view: DatasetRef
    written: CapturedWrite = field(repr=False)


class WriteReader:
    """Reads executions of one Spark application. ``steps`` reads what the operators of a plan do, before a DataFrame is
    cut off from it."""

    def __init__(
        self, bridge: Bridge, catalogs: Catalogs, steps: Callable[[JavaObject], str | None] | None = None
    ) -> None:
        self._bridge = bridge
        self._catalogs = catalogs
        self._steps = steps or (lambda plan: None)
        self.cut_plans = CutPlans()
        self.drops = DropTracker(catalogs)
        self._cut_off = {
            "LogicalRDD": self.cut_plans.of,
            "LogicalRelation": self.cut_plans.of_folder,
            "MemoryPlan": self.cut_plans.of_sink,
        }

    def read(self, execution: JavaObject, job: str, reads_before: bool = False) -> CapturedWrite | None:
        """What the execution writes; None if it stores nothing. ``reads_before``: the program had read rows into the
        driver before."""
        analyzed = execution.analyzed()
        nodes = self._bridge.plan_facts("logical", analyzed)
        target = read_target(nodes, self._catalogs)
        if target is None:
            return None
        command = nodes[0]
        if command["class"] in _MAKES_V1_TABLE:
            target = self._new_table(execution, command)
        job = job_name(job, target)
        leaves = _facts_by_id(nodes)
        try:
            root = self._plan(analyzed, nodes)
            write = read_write(root)
            if write is None:
                return None
            if write.unnamed and command.get("viewColumns"):
                write = replace(write, columns=tuple(command["viewColumns"]))
            cut_plans: list[PlanNode] = []
            cuts: list[PlanCut] = []
            lineage = trace_write(write, self._leaf_resolver(leaves, cut_plans, cuts))
            lineage = with_types(lineage, query_fields(command.get("querySchema")))
            if reads_before:
                lineage = with_driver_gaps(lineage, leaves, self._driver_datasets)
        except PlanUnreadable as error:
            return self._unreadable_write(nodes, target, job, error)
        kind = "merge" if write.command in _CHANGES_ROWS else _MODES.get(command.get("mode", ""), write.kind)
        written = self._captured_write(write.command, kind, target, lineage, leaves, nodes, job)
        return replace(
            written,
            sql=_statement(self._bridge.plan_facts("top", analyzed)[0]),
            if_absent=command.get("mode") == "Ignore" or bool(command.get("ifAbsent")),
            partly=_replaces_partly(command),
            target_settled=write.command not in _MAKES_V2_TABLE or target.symlink is not None,
            plan=write,
            cut_plans=tuple(cut_plans),
            cuts=tuple(cuts),
        )

    def nodes(self, execution: JavaObject) -> list[Facts]:
        """The facts about a command that writes nothing by itself."""
        return self._bridge.plan_facts("logical", execution.analyzed())

    def settle(self, execution: JavaObject, written: CapturedWrite) -> CapturedWrite:
        """The same write after it has ended: with the location of a table that it created, or the new version of a
        table."""
        named = self._target_table(execution.analyzed(), written.command)
        if named is None:
            return replace(written, target=replace(written.target, version=None), target_settled=True)
        catalog, identifier, facts = named
        table = self._bridge.plan_facts("table", catalog.loadTable(identifier))[0]
        datasets = read_leaf({**table, **facts, "class": "DataSourceV2Relation"}, self._catalogs).datasets
        target = datasets[0] if datasets else written.target
        return replace(written, target=replace(target, partitions=written.target.partitions), target_settled=True)

    def _target_table(self, command: JavaObject, kind: str) -> tuple[JavaObject, JavaObject, Facts] | None:
        """The catalog and the identifier of the table that a DataSource V2 command writes."""
        if kind in _MAKES_V2_TABLE:
            name = command.name()
            return name.catalog(), name.identifier(), _table_identity(self._bridge.plan_facts("logical", name)[0])
        if kind not in _FILLS_V2_TABLE:
            return None
        relation = command.table()
        facts = self._bridge.plan_facts("logical", relation)[0]
        if not facts.get("identifier") or not facts.get("catalogName"):
            return None
        return relation.catalog().get(), relation.identifier().get(), _table_identity(facts)

    def remember(self, execution: JavaObject) -> None:
        """Keep the plan of a DataFrame that is being cut off from it."""
        analyzed = execution.analyzed()
        columns = self._bridge.plan_facts("top", analyzed)[0].get("ids") or ()
        nodes = self._bridge.plan_facts("logical", analyzed)
        self.cut_plans.remember(
            columns,
            CutPlan(self._bridge.plan_json(analyzed), _facts_by_id(nodes), self._steps(analyzed)),
            execution.rdd(),
        )

    def remember_batch(self, execution: JavaObject) -> None:
        """The same for a micro-batch: the DataFrame that `foreachBatch` gets is the query below the write, and so is
        what a sink in memory is read back as."""
        analyzed = execution.analyzed()
        query = analyzed.children().head()
        columns = self._bridge.plan_facts("top", query)[0].get("ids") or ()
        nodes = self._bridge.plan_facts("logical", analyzed)
        cut_plan = CutPlan(self._bridge.plan_json(query), _facts_by_id(nodes), self._steps(query))
        sink = nodes[0].get("sinkHash", nodes[0].get("bareSinkHash"))
        self.cut_plans.remember(columns, cut_plan)
        if sink is not None:
            self.cut_plans.remember_sink(sink, cut_plan)

    def remember_table(self, execution: JavaObject) -> None:
        """The same for a table that Headwater writes and the job reads again."""
        analyzed = execution.analyzed()
        target = read_target(self._bridge.plan_facts("logical", analyzed), self._catalogs)
        if target is not None and target.uri:
            query = analyzed.children().head()
            leaves = _facts_by_id(self._bridge.plan_facts("logical", query))
            self.cut_plans.remember_folder(
                target.uri, CutPlan(self._bridge.plan_json(query), leaves, self._steps(query))
            )

    def _new_table(self, execution: JavaObject, facts: Facts) -> DatasetRef:
        """A new table whose command does not state its database or location: only the catalog knows. A table that is
        appended to stays where it is."""
        command = execution.analyzed()
        table = command.table() if facts["class"].startswith("CreateDataSource") else command.tableDesc()
        name, catalog = table.identifier(), execution.sparkSession().sessionState().catalog()
        table_facts: Facts = {**facts}
        table_facts.setdefault("database", catalog.getCurrentDatabase())
        if "location" not in table_facts:
            added_to = facts.get("mode") == "Append" and catalog.tableExists(name)
            location = catalog.getTableMetadata(name).location() if added_to else catalog.defaultTablePath(name)
            table_facts["location"] = location.toString()
        return table_dataset(table_facts, self._catalogs)

    def _plan(self, analyzed: JavaObject, nodes: Sequence[Facts]) -> PlanNode:
        if sum(node.get("width", 0) for node in nodes) > _MAX_COLUMNS:
            analyzed = self._bridge.collapse_projects(analyzed)
        return read_plan(self._bridge.plan_json(analyzed))

    def _leaf_resolver(self, leaves: dict[int, Facts], cut_plans: list[PlanNode], cuts: list[PlanCut]) -> LeafResolver:
        """A function that finds the plan a leaf was cut off from; it adds each plan to ``cut_plans`` and each leaf to
        ``cuts``."""

        def origin(leaf: PlanNode) -> PlanNode | None:
            facts = next((leaves[id] for id in _ids(leaf) if id in leaves), None)
            find_cut_plan = self._cut_off.get(leaf.name)
            cut_plan = None if facts is None or find_cut_plan is None else find_cut_plan(facts)
            if cut_plan is None or any(
                facts is leaf_facts for leaf_facts in cut_plan.leaves.values()
            ):  # a leaf of that same plan
                return None
            leaves.update(cut_plan.leaves)
            cuts.append(PlanCut(tuple(_ids(leaf)), cut_plan.steps))
            cut_plans.append(CutPlans.read(cut_plan))
            return cut_plans[-1]

        return origin

    def _captured_write(
        self,
        command: str,
        kind: str,
        target: DatasetRef,
        lineage: PlanLineage,
        leaves: Mapping[int, Facts],
        nodes: Sequence[Facts],
        job: str,
    ) -> CapturedWrite:
        readings = [self._leaf_datasets(source, leaves, nodes) for source in lineage.sources]
        inputs = WriteInputs(lineage.sources, readings, job)
        gaps = tuple(dict.fromkeys((*lineage.gaps, *inputs.gaps())))
        views = []
        for source, reading in zip(lineage.sources, readings, strict=True):
            if source.kind == "View" and reading.datasets:
                views.append(self._view(source, reading.datasets[0], leaves, nodes, job))
        return CapturedWrite(
            command=command,
            kind=kind,
            target=target,
            columns=lineage.columns,
            inputs=inputs.all(),
            fields={column.name: inputs.columns(column.derivations) for column in lineage.columns},
            whole=inputs.whole(lineage.whole),
            gaps=gaps,
            column_types=column_types(lineage, inputs.columns, gaps),
            views=tuple(views),
        )

    def _leaf_datasets(
        self, source: LineageSource, leaves: Mapping[int, Facts], nodes: Sequence[Facts]
    ) -> LeafDatasets:
        ids = [attribute.expr_id for attribute in source.attributes]
        unknown: Facts = {"class": source.kind}
        facts = next((leaves[id] for id in ids if id in leaves), unknown)
        reading = read_leaf(facts, self._catalogs)
        if not reading.in_memory or source.kind == "LocalRelation":
            return reading
        files = [path for node in _descendants(nodes, facts) for path in rdd_paths(node)]
        if not files:
            return reading
        gap = "an RDD stands between these files and the frame: its code cannot be read"
        return LeafDatasets(tuple(file_datasets(files)), no_columns, gap=gap, facts=facts)

    def _view(
        self, source: LineageSource, view: DatasetRef, leaves: Mapping[int, Facts], nodes: Sequence[Facts], job: str
    ) -> ViewDefinition:
        known_leaves, cuts = dict(leaves), list[PlanCut]()
        lineage = trace_plan(source.node.children[0], self._leaf_resolver(known_leaves, [], cuts))
        renamed = columns_of_view(lineage, source.attributes)
        written = self._captured_write("View", "view", view, renamed, known_leaves, nodes, job)
        return ViewDefinition(view, replace(written, cuts=tuple(cuts)))

    def qualified(self, path: str) -> str:
        return self._bridge.qualified_path(path)

    def read_frame(self, frame: DataFrame, command: str, job: str) -> CapturedWrite:
        """What a DataFrame reads, as a write whose target is not known yet; its columns are not those of the target."""
        analyzed = cast(JavaObject, frame._jdf).queryExecution().analyzed()
        nodes = self._bridge.plan_facts("logical", analyzed)
        leaves, nowhere = _facts_by_id(nodes), DatasetRef("inmemory://", job, "MEMORY")
        lineage = trace_plan(self._plan(analyzed, nodes), self._leaf_resolver(leaves, [], []))
        written = self._captured_write(command, "unknown", nowhere, lineage, leaves, nodes, job)
        return replace(written, columns=(), fields={}, column_types={})

    def read_rdd(self, rdd: RDD[object], job: str) -> tuple[tuple[WriteInput, ...], tuple[Gap, ...]]:
        """The files and the data of the program that an RDD is made of, and its sources that are not known."""
        java_rdd = cast(
            JavaObject, getattr(rdd, "_prev_jrdd", None) or rdd._jrdd
        )  # of Python's own RDDs, the one below
        return rdd_inputs(self._bridge.plan_facts("logical", java_rdd.rdd()), job)

    def _driver_datasets(self) -> list[DatasetRef]:
        """The datasets that the program has read into the driver."""
        leaves = [facts for facts in self._bridge.driver_reads() if "ids" in facts]
        return [dataset for facts in leaves for dataset in read_leaf(facts, self._catalogs).datasets]

    def _unreadable_write(
        self, nodes: Sequence[Facts], target: DatasetRef, job: str, error: PlanUnreadable
    ) -> CapturedWrite:
        """The write of a plan that cannot be parsed: it still has inputs and an output."""
        readings = name_memory([read_leaf(node, self._catalogs) for node in nodes[1:] if "ids" in node], job)
        inputs = {
            dataset.key: WriteInput(dataset, (), frozenset()) for reading in readings for dataset in reading.datasets
        }
        gap = Gap(nodes[0]["class"], str(error), ())
        columns = unread_columns(query_fields(nodes[0].get("querySchema")))
        return CapturedWrite(
            command=nodes[0]["class"],
            kind="unknown",
            target=target,
            columns=columns,
            inputs=tuple(inputs.values()),
            fields={},
            whole=(),
            gaps=(gap,),
        )


def _table_identity(facts: Facts) -> Facts:
    identity: Facts = {"class": facts["class"]}
    if "catalogName" in facts:
        identity["catalogName"] = facts["catalogName"]
    if "namespace" in facts:
        identity["namespace"] = facts["namespace"]
    if "identifier" in facts:
        identity["identifier"] = facts["identifier"]
    return identity


def _statement(top: Facts) -> str | None:
    """The SQL text of a command. The text of a query within it counts only if it is more than a query."""
    inner = top.get("innerSql") or ""
    return top.get("sql") or (inner if _MAKES.match(inner) else None)


def _replaces_partly(command: Facts) -> bool:
    """Whether the command overwrites rows that it chooses, not the target as a whole or partitions that it names."""
    options = {key.lower(): str(value).lower() for key, value in (command.get("options") or {}).items()}
    return (
        command["class"] == "OverwritePartitionsDynamic"
        or bool(command.get("dynamicOverwrite"))
        or command.get("overwriteCondition", "true") != "true"
        or any(value is None for value in (command.get("staticPartitions") or {}).values())
        or "replacewhere" in options
        or options.get("partitionoverwritemode") == "dynamic"
    )


def _flow_keys(columns: Iterable[InputColumn]) -> Hashable:
    return frozenset((*column.dataset.key, column.field, column.type, column.subtype) for column in columns)


def _facts_by_id(nodes: Iterable[Facts]) -> dict[int, Facts]:
    return {id: node for node in nodes for id in node.get("ids") or ()}


def _ids(leaf: PlanNode) -> Iterator[int]:
    return (attribute.expr_id for attribute in leaf.trees("output") if attribute.expr_id is not None)


def _descendants(nodes: Sequence[Facts], top: Facts) -> Iterator[Facts]:
    inside = set()
    for index, node in enumerate(nodes):
        if node is top or node["parent"] in inside:
            inside.add(index)
            yield node
