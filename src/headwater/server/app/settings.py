"""What a server can be told, and how its worker processes come to know it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

SETTINGS_VARIABLE = "HEADWATER_SERVER"
"""Workers are processes of their own, started from nothing: they read the settings here."""

MEGABYTE = 10**6


@dataclass(frozen=True, slots=True)
class ServerSettings:
    host: str = "127.0.0.1"
    port: int = 8321
    workers: int = 1
    limit_bytes: int = 20 * MEGABYTE
    """The longest body that is read, as sent and unzipped."""
    body_seconds: float = 30.0
    """How long a body may take to arrive."""
    requests_in_flight: int = 256
    """Events and records that wait to be stored; more are told to come again later."""
    bytes_in_flight: int = 256 * MEGABYTE
    """The same in bytes of their bodies."""
    writers: int = 2
    """Threads that store."""
    readers: int = 8
    """Threads that answer questions."""
    requests_per_second: float = 1000.0
    """That one key may make, in each process."""
    requests_at_once: float = 2000.0
    """That it may make at once, if it made none for a while."""
    streams: int = 100
    """Connections that listen to what happens."""
    streams_per_key: int = 20
    """Of these, those that one key may have, with all its sessions; where nobody shows a key, one address."""
    rows_location: str = ".headwater/rows"
    """Where pair tables may lie. What an event says of other places is not followed."""
    rows_roots: Sequence[str] = ()
    """Folders and addresses that stored queries may read, beside ``rows_location``. Without any: this machine's files,
    as far as inputs of runs that a trusted key signed name them."""
    row_task_seconds: float = 900.0
    """How long a question about rows may take on Spark."""
    row_task_megabytes: int = 2048
    """The heap that Spark has for it."""
    row_task_disk_megabytes: int = 10_000
    """What it may write."""
    spark_master: str = "local[*]"
    workspace: str | None = None
    """A folder that the workers of one server share; one that goes with the process unless told."""
    log_level: str = "info"
    max_direct_edges: int | None = None
    """Of a run that does not state which input went into which output; the store's default unless set."""
    root_path: str = ""
    """The path below which a proxy shows the server, like `/lineage`; empty at the top of a host."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks of proxies whose `X-Forwarded-For`, `Forwarded` and `X-Forwarded-Proto` count."""
    writer_socket: str | None = None
    """Socket of the writer process; without one, every process writes for itself."""

    def as_environment(self, store_url: str) -> dict[str, str]:
        return {SETTINGS_VARIABLE: json.dumps({"store_url": store_url, **asdict(self)})}


def settings_from_environment() -> tuple[str, ServerSettings]:
    given: dict[str, Any] = json.loads(os.environ[SETTINGS_VARIABLE])
    known = {field.name for field in fields(ServerSettings)}
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return given["store_url"], ServerSettings(**{name: value for name, value in values.items() if name in known})
