"""`headwater serve`"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

import typer

from headwater.cli.failures import CliError
from headwater.cli.options import DEFAULT_STORE, StoreOption

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}


def parse_size(text: str) -> int:
    match = re.fullmatch(r"(\d{1,12})\s*([KMG]?B|)", text.strip().upper())
    if match is None or int(match[1]) == 0:
        raise typer.BadParameter(f"'{text}' is not a size. Write 500KB, 20MB or a number of bytes.")
    return int(match[1]) * _UNITS[match[2]]


def parse_proxies(texts: Iterable[str]) -> tuple[str, ...]:
    from headwater.server.access.proxies import parse_network

    try:
        return tuple(str(parse_network(text)) for text in texts)
    except ValueError as error:
        raise typer.BadParameter(f"{error}. Write an address or a network, like 10.0.0.7 or 10.0.0.0/8.") from None


def parse_root(text: str) -> str:
    from headwater.server.app.root_path import parse_root_path

    try:
        return parse_root_path(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


HostOption = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        help="Address to listen on. One that other machines can reach requires an access key.",
    ),
]
PortOption = Annotated[int, typer.Option("--port", min=0, max=65535, metavar="N", help="Port to listen on.")]
WorkersOption = Annotated[
    int, typer.Option("--workers", min=1, max=64, metavar="N", help="Number of processes. Several need PostgreSQL.")
]
LimitBytesOption = Annotated[str, typer.Option("--limit-bytes", metavar="SIZE", help="Maximum size of a request body.")]
RowsLocationOption = Annotated[
    str,
    typer.Option(
        "--rows-location",
        metavar="FOLDER",
        envvar="HEADWATER_ROWS_LOCATION",
        help="Folder of the pair tables.",
    ),
]
RowsRootOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rows-root",
        metavar="FOLDER",
        envvar="HEADWATER_ROWS_ROOTS",
        help="Folder or URL that stored queries may read, besides --rows-location. Repeatable.",
        show_default="the local inputs of runs that a trusted key signed",
    ),
]
MaxDirectEdgesOption = Annotated[
    int | None,
    typer.Option(
        "--max-direct-edges",
        min=0,
        metavar="N",
        envvar="HEADWATER_MAX_DIRECT_EDGES",
        show_default="10000",
        help="Maximum number of direct edges of a run without column lineage; beyond it they go via the job.",
    ),
]
LogLevelOption = Annotated[
    str, typer.Option("--log-level", metavar="LEVEL", help="Log level: debug, info, warning or error.")
]
TrustedProxyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--trusted-proxy",
        metavar="ADDRESS",
        envvar="HEADWATER_TRUSTED_PROXY",
        help="Address or network of a proxy whose X-Forwarded-For and X-Forwarded-Proto count. Repeatable.",
    ),
]
RootPathOption = Annotated[
    str,
    typer.Option(
        "--root-path",
        metavar="PATH",
        envvar="HEADWATER_ROOT_PATH",
        help="Path under which a proxy publishes the server, like /lineage.",
    ),
]
StreamsPerKeyOption = Annotated[
    int, typer.Option("--streams-per-key", min=1, metavar="N", help="Maximum number of open event streams per key.")
]


def serve(
    host: HostOption = "127.0.0.1",
    port: PortOption = 8321,
    workers: WorkersOption = 1,
    limit_bytes: LimitBytesOption = "20MB",
    rows_location: RowsLocationOption = ".headwater/rows",
    rows_root: RowsRootOption = None,
    max_direct_edges: MaxDirectEdgesOption = None,
    log_level: LogLevelOption = "info",
    trusted_proxy: TrustedProxyOption = None,
    root_path: RootPathOption = "",
    streams_per_key: StreamsPerKeyOption = 20,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Serve the store over HTTP: the OpenLineage endpoint, the lineage API and the page."""
    try:
        from headwater.server.app.serving import serve as serve_store
        from headwater.server.app.settings import ServerSettings
    except ModuleNotFoundError as missing:
        raise CliError(f"The server needs {missing.name}: pip install 'headwater[server]'") from None

    if log_level not in ("debug", "info", "warning", "error"):
        raise typer.BadParameter(f"'{log_level}' is not a level. Levels: debug, info, warning, error.")
    serve_store(
        store,
        ServerSettings(
            host=host,
            port=port,
            workers=workers,
            limit_bytes=parse_size(limit_bytes),
            rows_location=rows_location,
            rows_roots=tuple(rows_root or ()),
            log_level=log_level,
            max_direct_edges=max_direct_edges,
            root_path=parse_root(root_path),
            streams_per_key=streams_per_key,
            trusted_proxies=parse_proxies(trusted_proxy or ()),
        ),
    )
