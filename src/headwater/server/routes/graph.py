"""Routes of lineage: upstream, downstream and impact of datasets, columns and partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Query, Response

from headwater.model.answers import Affected, Closure, Impact, Node
from headwater.model.names import Endpoint
from headwater.model.plain import plain
from headwater.server.app.openapi_schemas import COMPONENTS, Schema, json_responses, schema_of, with_members
from headwater.server.app.service import CurrentService, Reader
from headwater.server.routes.parameters import (
    Cursor,
    DatasetParameter,
    Depth,
    JobParameter,
    Limit,
    Moment,
    NamespaceParameter,
    Text,
    dataset_reference,
    endpoint_named,
)
from headwater.store.query.cursors import Position, decode, page

router = APIRouter(tags=["Lineage"])
_Item = TypeVar("_Item", Node, Affected)
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
_CLOSURE = json_responses(with_members(Closure, next=_NEXT), 200, 400, 404, 409, 422)
COMPONENTS["Node"]["properties"]["parent"] = {"anyOf": [_NODE_REF, schema_of(type(None))]}  # not required: see Parents
_IMPACT = json_responses(with_members(Impact, next=_NEXT), 200, 400, 404, 409, 422)


@router.get("/lineage/upstream", responses=_CLOSURE)
async def upstream(
    service: CurrentService, who: Reader, dataset: DatasetParameter, namespace: NamespaceParameter = None,
    column: Text = None, partition: Text = None, depth: Depth = None, as_of: Moment = None, cursor: Cursor = None,
    limit: Limit = 1000, parents: Parents = False, job: JobParameter = False,
) -> Response:  # fmt: skip
    """The sources of a dataset, a column or a partition, nearest first."""
    query = service.store_for(who).upstream
    return await service.respond(
        _closure, query, endpoint_named(dataset, namespace, job), column, partition, depth, as_of, cursor, limit,
        parents=parents,
    )  # fmt: skip


@router.get("/lineage/downstream", responses=_CLOSURE)
async def downstream(
    service: CurrentService, who: Reader, dataset: DatasetParameter, namespace: NamespaceParameter = None,
    column: Text = None, partition: Text = None, depth: Depth = None, as_of: Moment = None, cursor: Cursor = None,
    limit: Limit = 1000, parents: Parents = False, job: JobParameter = False,
) -> Response:  # fmt: skip
    """What depends on a dataset, a column or a partition, nearest first."""
    query = service.store_for(who).downstream
    return await service.respond(
        _closure, query, endpoint_named(dataset, namespace, job), column, partition, depth, as_of, cursor, limit,
        parents=parents,
    )  # fmt: skip


@router.get("/lineage/columns", responses=_CLOSURE)
async def columns(
    service: CurrentService, who: Reader, dataset: DatasetParameter, column: Annotated[str, Query(max_length=10_000)],
    namespace: NamespaceParameter = None, direction: Literal["upstream", "downstream"] = "upstream",
    depth: Depth = None, as_of: Moment = None, cursor: Cursor = None, limit: Limit = 1000,
) -> Response:  # fmt: skip
    """The columns that a column comes from, or goes into."""
    store = service.store_for(who)
    query = store.upstream if direction == "upstream" else store.downstream
    return await service.respond(
        _closure, query, dataset_reference(dataset, namespace), column, None, depth, as_of, cursor, limit
    )


@router.get("/lineage/impact", responses=_IMPACT)
async def impact(
    service: CurrentService, who: Reader, dataset: DatasetParameter, namespace: NamespaceParameter = None,
    column: Text = None, depth: Depth = None, as_of: Moment = None, cursor: Cursor = None, limit: Limit = 1000,
    job: JobParameter = False,
) -> Response:  # fmt: skip
    """What breaks if it changes: affected assets with their columns, jobs, owner and latest run."""
    store = service.store_for(who)

    def page_of_impact() -> dict[str, object]:
        answer = store.impact(endpoint_named(dataset, namespace, job), column, depth, as_of)
        return _page_of(answer, "affected", answer.affected, cursor, limit, _asset_position)

    return await service.respond(page_of_impact)


def _closure(
    query: Callable[..., Closure], dataset: str | Endpoint, column: str | None, partition: str | None,
    depth: int | None, as_of: datetime | None, cursor: str | None, limit: int, *, parents: bool = False,
) -> dict[str, object]:  # fmt: skip
    answer = query(dataset, column, partition, depth, as_of)
    return _page_of(answer, "nodes", answer.nodes, cursor, limit, _node_position, _with_parent if parents else plain)


def _with_parent(node: Node) -> dict[str, object]:
    """Return the node with its parent. Labels of a path do not identify a node: names may contain the separator."""
    near = node.parent
    parent = None if near is None else {"endpoint": plain(near.endpoint), "part": near.part}
    return {**plain(node), "parent": parent}


def _page_of(
    answer: Closure | Impact, part: str, items: Sequence[_Item], cursor: str | None, limit: int,
    position: Callable[[_Item], Position], shape: Callable[[_Item], object] = plain,
) -> dict[str, object]:  # fmt: skip
    """Return one page of the answer. Items added since the previous page appear in order, or are skipped."""
    after = decode(cursor, *_POSITION_TYPES)
    remaining = [item for item in items if after is None or position(item) > after][: limit + 1]
    page_items = page(remaining, limit, position)
    head = {name: getattr(answer, name) for name in answer.__slots__ if name != part}
    return {**plain(head), part: [shape(item) for item in page_items.items], "next": page_items.next}


_POSITION_TYPES = (int, str, str, bool, bool, str)


def _node_position(node: Node) -> Position:
    endpoint = node.endpoint
    is_job = type(endpoint).__name__ == "Job"
    return node.depth, endpoint.namespace, endpoint.name, is_job, node.part is not None, node.part or ""


def _asset_position(asset: Affected) -> Position:
    return asset.depth, asset.endpoint.namespace, asset.endpoint.name, type(asset.endpoint).__name__ == "Job", False, ""
