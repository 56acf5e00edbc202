"""A declared pipeline: its nodes and the edges between them. Nothing here needs Spark."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Self
from uuid import NAMESPACE_URL, uuid5

from headwater.errors import PipelineInvalid
from headwater.model.expectations import Expectation, expect
from headwater.pipeline.declare.argument_checks import is_name
from headwater.pipeline.declare.nodes import (
    AggregateNode,
    Backoff,
    JoinNode,
    Mapper,
    NestedPipeline,
    OptionValue,
    PassThroughNode,
    PipelineNode,
    RowMapNode,
    SinkNode,
    SourceNode,
    TransformNode,
    canonical_join_type,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession
    from pyspark.sql.types import StructType

_ID_NAMESPACE = uuid5(NAMESPACE_URL, "headwater:pipeline")

Input = PipelineNode | str
"""A node, or its name, which may be declared later."""


class PipelineDeclaration:
    def __init__(self, name: str, namespace: str = "default") -> None:
        self.name = name
        self.namespace = namespace
        self.expectations: list[Expectation] = []
        self.context: dict[str, object] = {}
        self._nodes: dict[str, PipelineNode] = {}
        if not is_name(name):
            raise PipelineInvalid(str(name), None, "it has no name.")

    @property
    def id(self) -> str:
        """32 hexadecimal digits that depend only on its namespace and its name."""
        return uuid5(_ID_NAMESPACE, json.dumps([self.namespace, self.name])).hex

    @property
    def nodes(self) -> tuple[PipelineNode, ...]:
        """The nodes in the order of their declaration."""
        return tuple(self._nodes.values())

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """(input node, node), by name, in the order of declaration."""
        return edges_of(self.nodes)

    def expect(
        self,
        measure: str,
        *,
        at_least: float | None = None,
        at_most: float | None = None,
        materiality: str = "MATERIAL",
        name: str | None = None,
    ) -> Self:
        """Declare an expectation of every run, as `hw.expect` does; the run's certificate says whether it held."""
        self.expectations.append(
            expect(measure, at_least=at_least, at_most=at_most, materiality=materiality, name=name)
        )
        return self

    def purpose(
        self,
        purpose: str | None = None,
        *,
        legal_basis: str | None = None,
        retention_period: str | None = None,
        sensitivity: str | None = None,
    ) -> Self:
        """Declare the purpose of every run, as `hw.run` does: it is part of the provenance of its inputs and
        outputs."""
        from headwater.formats.provenance import context_document

        self.context = context_document(purpose, legal_basis, retention_period, sensitivity)
        return self

    def source(
        self, name: str, reader: Callable[[SparkSession], DataFrame], key: str | Sequence[str] | None = None
    ) -> PipelineNode:
        """``reader`` is called with the session. ``key``: the columns that identify its rows in every run."""
        return self._add(SourceNode(name, self, reader=reader, key=_name_tuple(key)))

    def transform(
        self, name: str, inputs: Input | Sequence[Input], fn: Callable[..., DataFrame], *, mapper: Mapper | None = None
    ) -> PipelineNode:
        """``fn`` is called with a frame for each input. Row lineage finds which output rows come from which input rows,
        or ``mapper`` declares it: a function of an input frame and the output frame that returns the condition, a
        Column, by which an output row belongs to an input row; it is called once for each input. Other nodes take the
        same ``mapper``."""
        input_list = [inputs] if isinstance(inputs, PipelineNode | str) else list(inputs)
        return self._add(TransformNode(name, self, self._inputs(name, *input_list), mapper, fn=fn))

    def map(
        self,
        name: str,
        input: Input,
        fn: Callable[[Row], object],
        *,
        schema: str | StructType,
        retries: int = 0,
        backoff: Backoff = 0.0,
        on_error: str = "fail",
        mapper: Mapper | None = None,
    ) -> PipelineNode:
        """``fn`` is called with a row and returns a dict, a Row or a tuple of ``schema``, or None for no row.

        A call that raises is repeated ``retries`` times, after ``backoff`` seconds, doubled each time, or after the
        seconds that a function of the retry returns. Then ``on_error`` decides: the run fails, the row is skipped, or
        it becomes a dead letter.
        """
        return self._row_map(name, input, fn, False, schema, retries, backoff, on_error, mapper)

    def flat_map(
        self,
        name: str,
        input: Input,
        fn: Callable[[Row], object],
        *,
        schema: str | StructType,
        retries: int = 0,
        backoff: Backoff = 0.0,
        on_error: str = "fail",
        mapper: Mapper | None = None,
    ) -> PipelineNode:
        """As :meth:`map`, but ``fn`` returns an iterable of rows."""
        return self._row_map(name, input, fn, True, schema, retries, backoff, on_error, mapper)

    def join(
        self,
        name: str,
        left: Input,
        right: Input,
        *,
        on: str | Sequence[str],
        how: str = "inner",
        mapper: Mapper | None = None,
    ) -> PipelineNode:
        inputs = self._inputs(name, left, right)
        return self._add(JoinNode(name, self, inputs, on=_name_tuple(on), how=canonical_join_type(how), mapper=mapper))

    def aggregate(
        self,
        name: str,
        input: Input,
        /,
        *,
        by: str | Sequence[str],
        mapper: Mapper | None = None,
        **aggregates: Column,
    ) -> PipelineNode:
        inputs = self._inputs(name, input)
        return self._add(AggregateNode(name, self, inputs, by=_name_tuple(by), aggregates=aggregates, mapper=mapper))

    def sink(
        self,
        name: str,
        input: Input,
        *,
        format: str | None = None,
        path: str | None = None,
        table: str | None = None,
        mode: str = "errorifexists",
        partition_by: str | Sequence[str] = (),
        options: Mapping[str, OptionValue] | None = None,
    ) -> PipelineNode:
        """Writes with Spark's ``DataFrameWriter``; the parameters are those of the writer."""
        inputs, columns = self._inputs(name, input), _name_tuple(partition_by)
        return self._add(
            SinkNode(
                name=name,
                pipeline=self,
                inputs=inputs,
                format=format,
                path=path,
                table=table,
                mode=mode,
                partition_by=columns,
                options=dict(options or {}),
            )
        )

    def pipeline(
        self,
        name: str,
        other: PipelineDeclaration,
        inputs: Mapping[str, Input] | None = None,
        outputs: Sequence[str] = (),
    ) -> NestedPipeline:
        """``other`` as a node. Its sources in ``inputs`` are fed instead of read; its sinks in ``outputs`` pass rows on
        instead of writing them. Any other node of it is available as `nested["its name"]`."""
        fed = {source: self._inputs(name, input)[0] for source, input in (inputs or {}).items()}
        nested = NestedPipeline(
            name, self, tuple(fed.values()), other=other, fed_sources=fed, outputs=_name_tuple(outputs)
        )
        self._add(nested)
        return nested

    def check(self) -> tuple[PipelineNode, ...]:
        """The nodes in an order in which they can run, with nested pipelines replaced by their nodes."""
        nodes = {node.name: node for node in _expand_nested(self, ())}
        if not any(isinstance(node, SinkNode) for node in nodes.values()):
            raise PipelineInvalid(self.name, None, "it has no sink.")
        sorter: TopologicalSorter[str] = TopologicalSorter()
        for node in nodes.values():
            for name in node.inputs:
                if name not in nodes:
                    raise node.invalid(f"its input '{name}' is not a node. Nodes: {', '.join(nodes)}.")
                if isinstance(nodes[name], SinkNode):
                    raise node.invalid(f"its input '{name}' is a sink, which has no output.")
            sorter.add(node.name, *node.inputs)
        try:
            return tuple(nodes[name] for name in sorter.static_order())
        except CycleError as error:
            cycle = [str(name) for name in error.args[1]]
            raise PipelineInvalid(self.name, cycle[0], f"its inputs form a cycle: {' → '.join(cycle)}.") from None

    def __repr__(self) -> str:
        return f"Pipeline({self.name!r}, namespace={self.namespace!r})"

    def _row_map(
        self,
        name: str,
        input: Input,
        fn: Callable[[Row], object],
        many: bool,
        schema: str | StructType,
        retries: int,
        backoff: Backoff,
        on_error: str,
        mapper: Mapper | None,
    ) -> PipelineNode:
        inputs = self._inputs(name, input)
        return self._add(
            RowMapNode(
                name=name,
                pipeline=self,
                inputs=inputs,
                many=many,
                retries=retries,
                backoff=backoff,
                on_error=on_error,
                mapper=mapper,
                fn=fn,
                schema=schema,
            ),
        )

    def _add(self, node: PipelineNode) -> PipelineNode:
        name = node.name
        if not is_name(name):
            raise PipelineInvalid(self.name, str(name), "a node has no name.")
        if "/" in name or name.startswith("__hw_"):
            raise node.invalid("a name must not contain '/', which leads into nested pipelines, or begin with '__hw_'.")
        if name in self._nodes:
            raise node.invalid(f"there is a {self._nodes[name].kind} of that name already.")
        self._nodes[name] = node
        return node

    def _inputs(self, name: str, *inputs: Input) -> tuple[str, ...]:
        names = []
        for input in inputs:
            if isinstance(input, PipelineNode):
                if input.pipeline is not self:
                    raise PipelineInvalid(
                        self.name, name, f"its input '{input.name}' is a node of pipeline '{input.pipeline.name}'."
                    )
                names.append(input.name)
            elif isinstance(input, str):
                names.append(input)
            else:
                raise PipelineInvalid(self.name, name, f"its input is {input!r}, not a node or the name of one.")
        return tuple(names)


def edges_of(nodes: Sequence[PipelineNode]) -> tuple[tuple[str, str], ...]:
    return tuple((name, node.name) for node in nodes for name in node.inputs)


def _name_tuple(names: str | Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def _expand_nested(pipeline: PipelineDeclaration, enclosing: tuple[PipelineDeclaration, ...]) -> Iterator[PipelineNode]:
    """The nodes of a pipeline, with nested pipelines replaced by their nodes."""
    outputs = {node.name: node.outputs for node in pipeline.nodes if isinstance(node, NestedPipeline)}
    for declared in pipeline.nodes:
        node = replace(declared, inputs=tuple(_resolve_output(declared, name, outputs) for name in declared.inputs))
        if not isinstance(node, NestedPipeline):
            yield node
            continue
        if node.other in (pipeline, *enclosing):
            raise node.invalid(f"pipeline '{node.other.name}' would contain itself.")
        for inner in _expand_nested(node.other, (pipeline, *enclosing)):
            yield _place_inner_node(node, inner, outputs)


def _place_inner_node(
    nested: NestedPipeline, inner: PipelineNode, outputs: Mapping[str, tuple[str, ...]]
) -> PipelineNode:
    name = f"{nested.name}/{inner.name}"
    if isinstance(inner, SourceNode) and inner.name in nested.fed_sources:
        return PassThroughNode(
            name, inner.pipeline, (_resolve_output(nested, nested.fed_sources[inner.name], outputs),)
        )
    inputs = tuple(f"{nested.name}/{input_name}" for input_name in inner.inputs)
    if isinstance(inner, SinkNode) and inner.name in nested.outputs:
        return PassThroughNode(name, inner.pipeline, inputs)
    return replace(inner, name=name, inputs=inputs)


def _resolve_output(node: PipelineNode, name: str, outputs: Mapping[str, tuple[str, ...]]) -> str:
    """Resolves the name of a nested pipeline to its output, if it has just one."""
    if name not in outputs:
        return name
    if len(outputs[name]) != 1:
        raise node.invalid(f"its input '{name}' is a pipeline; use one of its nodes, as in {name}[…].")
    return f"{name}/{outputs[name][0]}"
