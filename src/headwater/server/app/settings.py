"""Settings of the server, and how they are passed to its worker processes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

SETTINGS_VARIABLE = "HEADWATER_SERVER"
"""The variable that passes the settings to worker processes."""

MEGABYTE = 10**6


@dataclass(frozen=True, slots=True)
class ServerSettings:
    host: str = "127.0.0.1"
    port: int = 8321
    workers: int = 1
    limit_bytes: int = 20 * MEGABYTE
    """Maximum size of a body, as sent and decompressed."""
    body_seconds: float = 30.0
    """Maximum time to receive a body."""
    requests_in_flight: int = 256
    """Maximum number of requests that wait to be stored; more get 429."""
    bytes_in_flight: int = 256 * MEGABYTE
    """Maximum size of their bodies together."""
    writers: int = 2
    """Threads that write to the store."""
    readers: int = 8
    """Threads that answer queries."""
    requests_per_second: float = 1000.0
    """Rate limit of one key, in each process."""
    requests_at_once: float = 2000.0
    """Burst that the rate limit allows."""
    streams: int = 100
    """Maximum number of open event streams."""
    streams_per_key: int = 20
    """Maximum number per key, including its sessions; on a server without keys, per address."""
    rows_location: str = ".headwater/rows"
    """Folder of the pair tables. Other folders that an event names are not read."""
    rows_roots: Sequence[str] = ()
    """Folders and URLs that stored queries may read, besides ``rows_location``. By default: local files that are inputs
    of runs signed with a trusted key."""
    row_task_seconds: float = 900.0
    """Maximum time of a row query on Spark."""
    row_task_megabytes: int = 2048
    """Heap of Spark for a row query."""
    row_task_disk_megabytes: int = 10_000
    """Maximum size of the files that a row query writes."""
    spark_master: str = "local[*]"
    workspace: str | None = None
    """A folder that the workers of one server share; a temporary folder by default."""
    log_level: str = "info"
    max_direct_edges: int | None = None
    """Maximum number of direct edges of a run without column lineage; the store's default unless set."""
    root_path: str = ""
    """Path under which a proxy publishes the server, like `/lineage`; empty for the root of a host."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks of proxies whose `X-Forwarded-For`, `Forwarded` and `X-Forwarded-Proto` count."""
    writer_socket: str | None = None
    """Socket of the writer process; without one, every process writes for itself."""

    def as_environment(self, store_url: str) -> dict[str, str]:
        return {SETTINGS_VARIABLE: json.dumps({"store_url": store_url, **asdict(self)})}


def settings_from_environment() -> tuple[str, ServerSettings]:
    settings = json.loads(os.environ[SETTINGS_VARIABLE])
    known = {field.name for field in fields(ServerSettings)}
    values = {name: value for name, value in settings.items() if name in known}
    values.update({name: tuple(value) for name, value in values.items() if isinstance(value, list)})
    return settings["store_url"], ServerSettings(**values)
