"""Serves the web page, or, if it is not built, a small page that says so and lists the API.

The page is a single-page application: every address of it returns the same document, so that links work. Any other
address is a 404; a mount at `/` would match every address, including those that exist with another method.
"""

from __future__ import annotations

import gzip
from functools import lru_cache
from html import escape
from mimetypes import guess_type
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response

from headwater.server.app.problems import HttpProblem

BUILT = Path(__file__).parents[1] / "page"
ADDRESSES = ("/", "/map", "/explore", "/runs", "/run", "/diff", "/rows", "/records", "/audit", "/keys")
"""The same as in `ui/src/app/places.ts`."""

_COMPRESSIBLE = ("text/", "application/json", "image/svg+xml")
_FOREVER = "public, max-age=31536000, immutable"  # their names contain a hash of their content


def install(app: FastAPI, root_path: str = "") -> None:
    app.state.root_path = root_path
    router = APIRouter(include_in_schema=False)
    if (BUILT / "index.html").is_file():
        for address in ADDRESSES:
            router.add_api_route(address, _document)
        router.add_api_route("/assets/{file:name}", _asset)
        router.add_api_route("/mark.svg", _mark)
    else:
        router.add_api_route("/", listing)
    app.include_router(router)


async def _document(request: Request) -> Response:
    root: str = request.app.state.root_path
    return _file(request, BUILT / "index.html", "no-cache", root)


async def _mark(request: Request) -> Response:
    return _file(request, BUILT / "mark.svg", "max-age=3600")


async def _asset(request: Request, file: str) -> Response:
    # Looked up in the folder's listing, so that no name leads out of the folder.
    path = {path.name: path for path in (BUILT / "assets").iterdir()}.get(file)
    if path is None:
        raise HttpProblem(404, "not_found", "Not found.")
    return _file(request, path, _FOREVER)


def _file(request: Request, path: Path, cache: str, root: str | None = None) -> Response:
    content, compressed, media_type = _content(path, path.stat().st_mtime_ns, root)
    headers = {"Cache-Control": cache, "Vary": "Accept-Encoding"}
    if compressed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        content = compressed
    return Response(content, media_type=media_type, headers=headers)


@lru_cache(maxsize=64)
def _content(path: Path, _changed: int, root: str | None) -> tuple[bytes, bytes | None, str]:
    content = path.read_bytes()
    if root is not None:  # the document refers to its files relative to the root path
        content = content.replace(b'"./', f'"{escape(root)}/'.encode())
    media_type = guess_type(path.name)[0] or "application/octet-stream"
    compressible = media_type.startswith(_COMPRESSIBLE)
    return content, gzip.compress(content, mtime=0) if compressible else None, media_type


async def listing(request: Request) -> Response:
    document = request.app.openapi()
    rows = "".join(
        f"<tr><td>{method.upper()}<td><code>{escape(path)}</code><td>{escape(operation.get('description', ''))}"
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    )
    version = escape(document["info"]["version"])
    address = escape(f"{request.app.state.root_path}{request.app.openapi_url}")
    return Response(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Headwater</title><h1>Headwater {version}</h1>"
        "<p>This installation does not include the web page. Its HTTP API is described by "
        f"<a href='{address}'>openapi.json</a>:</p><table>{rows}</table></html>",
        media_type="text/html",
    )
