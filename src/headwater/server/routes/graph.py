"""Where data comes from and goes: datasets, columns, partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from headwater.model.answers import Affected, Closure, Impact, Node
from headwater.model.names import Endpoint
from headwater.model.plain import plain
from headwater.server.app.openapi_schemas import COMPONENTS, Schema, answers, schema_of, with_members
from headwater.server.app.service import Reader, Serving
from headwater.server.routes.asking import (
    Cursor,
    DatasetParameter,
    Depth,
    JobParameter,
    Limit,
    Moment,
    NamespaceParameter,
    Text,
    endpoint_named,
    named,
)
from headwater.store.query.cursors import Position, decode, page

router = APIRouter(tags=["Lineage"])
Parents = Annotated[
    bool, Query(description="With the `parent` of each node: the node one hop nearer, or null, by endpoint and part.")
]
_NEXT = schema_of(str | None)
_NODE_REF: Schema = {
    "type": "object",
    "required": ["endpoint", "part"],
    "properties": {"endpoint": schema_of(Endpoint), "part": schema_of(str | None)},
    "additionalProperties": False,
}
_CLOSURE = answers(with_members(Closure, next=_NEXT), 200, 400, 404, 409, 422)
COMPONENTS["Node"]["properties"]["parent"] = {"anyOf": [_NODE_REF, schema_of(type(None))]}  # not required: see Parents
_IMPACT = answers(with_members(Impact, next=_NEXT), 200, 400, 404, 409, 422)


@router.get("/lineage/upstream", responses=_CLOSURE)
async def upstream(
    serving: Serving, who: Reader, dataset: DatasetParameter, namespace: NamespaceParameter = None,
    column: Text = None, partition: Text = None, depth: Depth = None, as_of: Moment = None, cursor: Cursor = None,
    limit: Limit = 1000, parents: Parents = False, job: JobParameter = False,
) -> Response:  # fmt: skip
    """Where it comes from: everything it was made of, nearest first."""
    ask = serving.seen_by(who).upstream
    return await serving.answer(
        _closure, ask, endpoint_named(dataset, namespace, job), column, partition, depth, as_of, cursor, limit,
        parents=parents,
    )  # fmt: skip


@router.get("/lineage/downstream", responses=_CLOSURE)
async def downstream(
    serving: Serving, who: Reader, dataset: DatasetParameter, namespace: NamespaceParameter = None,
    column: Text = None, partition: Text = None, depth: Depth = None, as_of: Moment = None, cursor: Cursor = None,
    limit: Limit = 1000, parents: Parents = False, job: JobParameter = False,
) -> Response:  # fmt: skip
    """What was made of it, nearest first."""
    ask = serving.seen_by(who).downstream
    return await serving.answer(
        _closure, ask, endpoint_named(dataset, namespace, job), column, partition, depth, as_of, cursor, limit,
        parents=parents,
    )  # fmt: skip


@router.get("/lineage/columns", responses=_CLOSURE)
async def columns(
    serving: Serving, who: Reader, dataset: DatasetParameter, column: Annotated[str, Query(max_length=10_000)],
    namespace: NamespaceParameter = None, direction: Literal["upstream", "downstream"] = "upstream",
    depth: Depth = None, as_of: Moment = None, cursor: Cursor = None, limit: Limit = 1000,
) -> Response:  # fmt: skip
    """The columns that a column comes from, or goes into."""
    seen = serving.seen_by(who)
    ask = seen.upstream if direction == "upstream" else seen.downstream
    return await serving.answer(_closure, ask, named(dataset, namespace), column, None, depth, as_of, cursor, limit)


@router.get("/lineage/impact", responses=_IMPACT)
async def impact(
    serving: Serving, who: Reader, dataset: DatasetParameter, namespace: NamespaceParameter = None,
    column: Text = None, depth: Depth = None, as_of: Moment = None, cursor: Cursor = None, limit: Limit = 1000,
    job: JobParameter = False,
) -> Response:  # fmt: skip
    """What breaks if it changes: affected assets with the columns touched, their jobs, owner and latest run."""
    seen = serving.seen_by(who)

    def asked() -> dict[str, Any]:
        answer = seen.impact(endpoint_named(dataset, namespace, job), column, depth, as_of)
        return _cut(answer, "affected", answer.affected, cursor, limit, _of_affected)

    return await serving.answer(asked)


def _closure(
    ask: Callable[..., Closure], dataset: Any, column: str | None, partition: str | None, depth: int | None,
    as_of: datetime | None, cursor: str | None, limit: int, *, parents: bool = False,
) -> dict[str, Any]:  # fmt: skip
    answer = ask(dataset, column, partition, depth, as_of)
    return _cut(answer, "nodes", answer.nodes, cursor, limit, _of_node, _with_parent if parents else plain)


def _with_parent(node: Node) -> dict[str, Any]:
    """The labels of the path do not tell a node for certain: names may hold what stands between them."""
    near = node.parent
    parent = None if near is None else {"endpoint": plain(near.endpoint), "part": near.part}
    return {**plain(node), "parent": parent}


def _cut(
    answer: Closure | Impact, part: str, items: Sequence[Any], cursor: str | None, limit: int,
    position: Callable[[Any], Position], shape: Callable[[Any], Any] = plain,
) -> dict[str, Any]:  # fmt: skip
    """One page of the answer. What was added since the page before is in its place in the order, or is passed over."""
    after = decode(cursor, *_KINDS)
    left = [item for item in items if after is None or position(item) > after][: limit + 1]
    shown = page(left, limit, position)
    head = {name: getattr(answer, name) for name in answer.__slots__ if name != part}
    return {**plain(head), part: [shape(item) for item in shown.items], "next": shown.next}


_KINDS = (int, str, str, bool, bool, str)


def _of_node(node: Node) -> Position:
    endpoint = node.endpoint
    is_job = type(endpoint).__name__ == "Job"
    return node.depth, endpoint.namespace, endpoint.name, is_job, node.part is not None, node.part or ""


def _of_affected(asset: Affected) -> Position:
    return asset.depth, asset.endpoint.namespace, asset.endpoint.name, type(asset.endpoint).__name__ == "Job", False, ""
