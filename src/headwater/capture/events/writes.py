"""What one execution read and wrote: Spark's plan and the facts about its leaves, under the names of datasets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from headwater.capture.events.column_types import column_types
from headwater.capture.events.inputs import Input, InputColumn, Inputs, name_memory
from headwater.capture.events.plan_cuts import Cut, Origin, Origins
from headwater.capture.listener.drops import Dropping, Drops, read_dropping
from headwater.capture.listener.jvm import Bridge
from headwater.capture.naming.catalogs import Catalogs
from headwater.capture.naming.dataset_ref import Place
from headwater.capture.naming.jobs import job_name
from headwater.capture.naming.paths import file_places
from headwater.capture.naming.plan_sources import Reading, no_columns, read_leaf, table_place
from headwater.capture.naming.targets import read_target
from headwater.errors import PlanUnreadable
from headwater.plan.commands import Write, read_write
from headwater.plan.lineage import Gap, OutputColumn, PlanLineage, Source
from headwater.plan.trace import trace_plan, trace_write
from headwater.plan.tree import Node, read_plan

_MAKES_V1_TABLE = ("CreateDataSourceTableAsSelectCommand", "CreateHiveTableAsSelectCommand", "SaveAsV1TableCommand")
_MAKES_V2_TABLE = ("CreateTableAsSelect", "ReplaceTableAsSelect")
_FILLS_V2_TABLE = ("AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic", "ReplaceData", "WriteDelta")
_CHANGES_ROWS = ("ReplaceData", "WriteDelta")  # what MERGE, UPDATE and DELETE become
_MODES = {
    **{"Append": "append", "Overwrite": "overwrite", "ErrorIfExists": "create", "Ignore": "create"},
    "Complete": "overwrite",  # a stream whose batches each replace the one before
}
_MAKES = re.compile(r"\s*(create|alter|replace|insert|with|from)\b", re.I)
_WIDE = 5_000  # columns over all projections; beyond that they are collapsed before the plan is read

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Written:
    """One write: where to, from where, column by column. ``whole`` are the columns that decide over whole rows."""

    command: str
    kind: str
    target: Place
    columns: tuple[OutputColumn, ...]
    inputs: tuple[Input, ...]
    fields: Mapping[str, tuple[InputColumn, ...]]
    whole: tuple[InputColumn, ...]
    gaps: tuple[Gap, ...]
    sql: str | None = None
    column_types: Mapping[str, str] = field(default_factory=dict)
    """In the words of WIA-DATA-008."""
    views: tuple[ViewDefinition, ...] = ()
    if_absent: bool = False
    """It writes nothing if there is something already."""
    plan: Write | None = field(default=None, compare=False, repr=False)
    """The plan itself, as long as somebody may ask about it."""
    behind: tuple[Node, ...] = field(default=(), compare=False, repr=False)
    """The plans that frames in it were cut off from, likewise."""
    cuts: tuple[Cut, ...] = field(default=(), compare=False, repr=False)
    """Where they were cut off, outer ones before those behind them."""
    target_settled: bool = True
    """False as long as the target's place is not known: a catalog chooses it when it makes the table."""

    @property
    def is_certain(self) -> bool:
        """Whether, before it is over, one can say that it writes, and where."""
        return self.target_settled and not self.if_absent


@dataclass(frozen=True)
class ViewDefinition:
    """A view that was read, and what it is made of: it may have been made before anybody watched."""

    view: Place
    written: Written = field(repr=False)


class Reader:
    """Reads executions of one Spark application. ``steps`` says of a plan what shall be known of it once a frame was
    cut off from it."""

    def __init__(self, bridge: Bridge, catalogs: Catalogs, steps: Callable[[Any], str | None] | None = None) -> None:
        self._bridge = bridge
        self._catalogs = catalogs
        self._steps = steps or (lambda plan: None)
        self.origins = Origins()
        self.drops = Drops(catalogs)
        self._cut_off = {"LogicalRDD": self.origins.of, "LogicalRelation": self.origins.of_folder}

    def read(self, execution: Any, job: str) -> Written | None:
        """What the execution writes; None if it writes nothing that stays."""
        analyzed = execution.analyzed()
        nodes = self._bridge.survey("logical", analyzed)
        target = read_target(nodes, self._catalogs)
        if target is None:
            return None
        command = nodes[0]
        if command["class"] in _MAKES_V1_TABLE:
            target = self._table_made(execution, command)
        job = job_name(job, target)
        leaves = _by_id(nodes)
        try:
            root = self._plan(analyzed, nodes)
            write = read_write(root)
            if write is None:
                return None
            if write.unnamed and command.get("viewColumns"):
                write = replace(write, columns=tuple(command["viewColumns"]))
            behind: list[Node] = []
            cuts: list[Cut] = []
            lineage = trace_write(write, self._origin(leaves, behind, cuts))
        except PlanUnreadable as trouble:
            return self._unread(nodes, target, job, trouble)
        kind = "merge" if write.command in _CHANGES_ROWS else _MODES.get(command.get("mode", ""), write.kind)
        written = self._written(write.command, kind, target, lineage, leaves, nodes, job)
        return replace(
            written,
            sql=_statement(self._bridge.survey("top", analyzed)[0]),
            if_absent=command.get("mode") == "Ignore" or bool(command.get("ifAbsent")),
            target_settled=write.command not in _MAKES_V2_TABLE or target.also is not None,
            plan=write,
            behind=tuple(behind),
            cuts=tuple(cuts),
        )

    def dropping(self, execution: Any) -> Dropping | None:
        """The table that the execution drops; None if it does something else."""
        return read_dropping(self._bridge.survey("logical", execution.analyzed()))

    def settle(self, execution: Any, written: Written) -> Written:
        """The same write, now that it is over: a table that it made has got its place, and a table its new version."""
        named = self._table_named(execution.analyzed(), written.command)
        if named is None:
            return replace(written, target=replace(written.target, version=None), target_settled=True)
        catalog, identifier, facts = named
        table = self._bridge.survey("table", catalog.loadTable(identifier))[0]
        places = read_leaf({**table, **facts, "class": "DataSourceV2Relation"}, self._catalogs).places
        target = places[0] if places else written.target
        return replace(written, target=replace(target, partitions=written.target.partitions), target_settled=True)

    def _table_named(self, command: Any, kind: str) -> tuple[Any, Any, Facts] | None:
        """The catalog and the name by which it knows the table that a command of the newer interface writes."""
        if kind in _MAKES_V2_TABLE:
            name = command.name()
            return name.catalog(), name.identifier(), _naming(self._bridge.survey("logical", name)[0])
        if kind not in _FILLS_V2_TABLE:
            return None
        relation = command.table()
        facts = self._bridge.survey("logical", relation)[0]
        if not facts.get("identifier") or not facts.get("catalogName"):
            return None
        return relation.catalog().get(), relation.identifier().get(), _naming(facts)

    def remember(self, execution: Any) -> None:
        """Keep the plan of a frame that is being cut off from it."""
        analyzed = execution.analyzed()
        columns = self._bridge.survey("top", analyzed)[0].get("ids") or ()
        nodes = self._bridge.survey("logical", analyzed)
        self.origins.remember(columns, Origin(analyzed.toJSON(), _by_id(nodes), self._steps(analyzed)), execution.rdd())

    def remember_batch(self, execution: Any) -> None:
        """The same for a micro-batch: the frame that `foreachBatch` gets is the query below the write."""
        analyzed = execution.analyzed()
        query = analyzed.children().head()
        columns = self._bridge.survey("top", query)[0].get("ids") or ()
        leaves = _by_id(self._bridge.survey("logical", query))
        self.origins.remember(columns, Origin(query.toJSON(), leaves, self._steps(query)))

    def remember_table(self, execution: Any) -> None:
        """The same for a table that is ours, and that the job will go on from."""
        analyzed = execution.analyzed()
        target = read_target(self._bridge.survey("logical", analyzed), self._catalogs)
        if target is not None and target.uri:
            query = analyzed.children().head()
            leaves = _by_id(self._bridge.survey("logical", query))
            self.origins.remember_folder(target.uri, Origin(query.toJSON(), leaves, self._steps(query)))

    def _table_made(self, execution: Any, facts: Facts) -> Place:
        """A table that does not say in which database or where: only the catalog knows. One that is added to stays
        where it is."""
        command = execution.analyzed()
        table = command.table() if facts["class"].startswith("CreateDataSource") else command.tableDesc()
        name, catalog = table.identifier(), execution.sparkSession().sessionState().catalog()
        known = dict(facts)
        known.setdefault("database", catalog.getCurrentDatabase())
        if "location" not in known:
            added_to = facts.get("mode") == "Append" and catalog.tableExists(name)
            place = catalog.getTableMetadata(name).location() if added_to else catalog.defaultTablePath(name)
            known["location"] = place.toString()
        return table_place(known, self._catalogs)

    def _plan(self, analyzed: Any, nodes: Sequence[Facts]) -> Node:
        if sum(node.get("width", 0) for node in nodes) > _WIDE:
            analyzed = self._bridge.collapse_projects(analyzed)
        return read_plan(analyzed.toJSON())

    def _origin(self, leaves: dict[int, Facts], behind: list[Node], cuts: list[Cut]) -> Any:
        """A function that finds the plan a leaf was cut off from; ``behind`` gets those that were found, ``cuts`` where
        that was."""

        def origin(leaf: Node) -> Node | None:
            facts = next((leaves[id] for id in _ids(leaf) if id in leaves), None)
            known = self._cut_off.get(leaf.name)
            found = None if facts is None or known is None else known(facts)
            if found is None or any(facts is each for each in found.leaves.values()):  # a leaf of that very plan
                return None
            leaves.update(found.leaves)
            cuts.append(Cut(tuple(_ids(leaf)), found.steps))
            behind.append(Origins.read(found))
            return behind[-1]

        return origin

    def _written(
        self,
        command: str,
        kind: str,
        target: Place,
        lineage: PlanLineage,
        leaves: Mapping[int, Facts],
        nodes: Sequence[Facts],
        job: str,
    ) -> Written:
        readings = [self._reading(source, leaves, nodes) for source in lineage.sources]
        inputs = Inputs(lineage.sources, readings, job)
        gaps = tuple(dict.fromkeys((*lineage.gaps, *inputs.gaps())))
        views = []
        for source, reading in zip(lineage.sources, readings, strict=True):
            if source.kind == "View" and reading.places:
                views.append(self._view(source, reading.places[0], leaves, nodes, job))
        return Written(
            command,
            kind,
            target,
            lineage.columns,
            inputs.all(),
            {column.name: inputs.columns(column.derivations) for column in lineage.columns},
            inputs.whole(lineage.whole),
            gaps,
            column_types=column_types(lineage, inputs.columns, gaps),
            views=tuple(views),
        )

    def _reading(self, source: Source, leaves: Mapping[int, Facts], nodes: Sequence[Facts]) -> Reading:
        ids = [attribute.expr_id for attribute in source.attributes]
        facts = next((leaves[id] for id in ids if id in leaves), {"class": source.kind})
        reading = read_leaf(facts, self._catalogs)
        if not reading.in_memory or source.kind == "LocalRelation":
            return reading
        files = [path for node in _below(nodes, facts) for path in _rdd_paths(node)]
        if not files:
            return reading
        gap = "an RDD stands between these files and the frame: its code cannot be read"
        return Reading(tuple(file_places(files)), no_columns, gap=gap, facts=facts)

    def _view(
        self, source: Source, view: Place, leaves: Mapping[int, Facts], nodes: Sequence[Facts], job: str
    ) -> ViewDefinition:
        known, cuts = dict(leaves), list[Cut]()
        lineage = trace_plan(source.node.children[0], self._origin(known, [], cuts))
        renamed = _renamed(lineage, [attribute.name for attribute in source.attributes])
        written = self._written("View", "view", view, renamed, known, nodes, job)
        return ViewDefinition(view, replace(written, cuts=tuple(cuts)))

    def _unread(self, nodes: Sequence[Facts], target: Place, job: str, trouble: PlanUnreadable) -> Written:
        """A plan that could not be read still has its inputs and its output."""
        readings = name_memory([read_leaf(node, self._catalogs) for node in nodes[1:] if "ids" in node], job)
        inputs = {place.key: Input(place, (), frozenset()) for reading in readings for place in reading.places}
        gap = Gap(nodes[0]["class"], str(trouble), ())
        return Written(nodes[0]["class"], "unknown", target, (), tuple(inputs.values()), {}, (), (gap,))


def _naming(facts: Facts) -> Facts:
    return {key: facts[key] for key in ("catalogName", "namespace", "identifier") if key in facts}


def _statement(top: Facts) -> str | None:
    """The SQL that a command was given as. The text of a query below it counts only if it is more than a query."""
    inner = top.get("innerSql") or ""
    return top.get("sql") or (inner if _MAKES.match(inner) else None)


def _by_id(nodes: Iterable[Facts]) -> dict[int, Facts]:
    return {id: node for node in nodes for id in node.get("ids") or ()}


def _ids(leaf: Node) -> Iterator[int]:
    return (attribute.expr_id for attribute in leaf.trees("output") if attribute.expr_id is not None)


def _below(nodes: Sequence[Facts], top: Facts) -> Iterator[Facts]:
    within = set()
    for place, node in enumerate(nodes):
        if node is top or node["parent"] in within:
            within.add(place)
            yield node


def _rdd_paths(node: Facts) -> list[str]:
    folders = node.get("folders")
    parents = {str(path).rsplit("/", 1)[0] for path in _flat(node.get("files") or ())}
    return [*sorted(parents), *(folders.split(",") if folders else ())]


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        else:
            yield value


def _renamed(lineage: PlanLineage, names: Sequence[str] | None) -> PlanLineage:
    """Under the names that a view gives its columns, if it does."""
    if not names or len(names) != len(lineage.columns):
        return lineage
    columns = (replace(column, name=name) for column, name in zip(lineage.columns, names, strict=True))
    return replace(lineage, columns=tuple(columns))
