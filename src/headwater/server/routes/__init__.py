"""The routes, one module per subject. They are matched in the order of ``_SUBJECTS``."""

from __future__ import annotations

from fastapi import FastAPI

from headwater.server.app import request_middleware  # noqa: F401 (registers the path convertor `name` before the routes are parsed)
from headwater.server.marquez import routes as marquez_routes
from headwater.server.routes import (
    catalog,
    events,
    export,
    graph,
    intake,
    live,
    log,
    operate,
    overview,
    picture,
    provenance,
    quality,
    records,
    rows,
    runs,
    tasks,
)

_SUBJECTS = (
    *(intake, graph, picture, catalog, provenance, quality, overview, runs, events, export, log, records, rows, tasks),
    live,
    marquez_routes,
)


def install(app: FastAPI, prefix: str) -> None:
    app.include_router(operate.router)
    for subject in _SUBJECTS:
        app.include_router(subject.router, prefix=prefix)
