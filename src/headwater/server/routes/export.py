"""Exports lineage: all events as received, or a graph."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import FileResponse, StreamingResponse
from starlette.background import BackgroundTask

from headwater.exchange.export_formats import DETAILS
from headwater.server.app.openapi_schemas import file_responses
from headwater.server.app.service import CurrentService, Reader, Service
from headwater.server.routes.parameters import Depth, Moment
from headwater.store.log.audit_writer import deed
from headwater.store.store import Store

router = APIRouter(tags=["Events"])
EXPORT_READ = "export.read"
_LINES_PER_READ = 200
_MEDIA = {str(format): details.media_type for format, details in DETAILS.items() if details.media_type is not None}
if TYPE_CHECKING:
    ExportFormat = str
else:  # the default first, as documented
    ExportFormat = Literal[tuple(sorted(_MEDIA, key=lambda name: name != "openlineage"))]
_RESPONSES = file_responses(sorted(set(_MEDIA.values())), 400, 404, 409, 422)


@router.get("/export", response_class=Response, responses=_RESPONSES)
async def export(
    service: CurrentService,
    who: Reader,
    format: Annotated[ExportFormat, Query()] = "openlineage",
    dataset: Annotated[
        list[Annotated[str, Query(max_length=100_000)]] | None,
        Query(max_length=100, description="Only lineage of these datasets: `name` or `namespace/name`."),
    ] = None,
    direction: Annotated[Literal["upstream", "downstream", "both"], Query()] = "both",
    depth: Depth = None,
    as_of: Moment = None,
) -> Response:
    """All events, one per line, in the order of arrival: `headwater ingest` builds the same store from them.

    Other formats export the graph, or a part of it, for `headwater import`.
    """
    # Before the first line: without an audit entry nothing is exported.
    await service.threads.write(
        service.store.deeds.record, (who.actor, deed(EXPORT_READ, "events", None, format=format))
    )
    store = service.store_for(who)
    if format == "openlineage" and not dataset and depth is None and as_of is None:
        return StreamingResponse(_lines(service, store), media_type=_MEDIA[format])
    from headwater.exchange.exporting import export_file  # imports numpy, which nothing else in the server needs

    # Written to a file first, in one transaction: a slow client must not keep the transaction open.
    folder = TemporaryDirectory(prefix="headwater-export-")
    try:
        file = Path(folder.name) / "lineage"
        run_export = partial(export_file, datasets=dataset or (), direction=direction, depth=depth, as_of=as_of)
        await service.call(run_export, store, file, format=format)
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(file, media_type=_MEDIA[format], background=BackgroundTask(folder.cleanup))


async def _lines(service: Service, store: Store) -> AsyncIterator[bytes]:
    """Read batch by batch, not in one transaction: a slow client must not keep a transaction open."""
    after: int | None = 0
    while after is not None:
        after, lines = await service.call(store.pages.lines_after, after, _LINES_PER_READ)
        if lines:
            yield b"".join(lines)
