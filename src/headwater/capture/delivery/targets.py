"""The sink for an address that the user typed."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from headwater.capture.delivery.console import ConsoleSink
from headwater.capture.delivery.http import DEFAULT_TIMEOUT, HttpSink
from headwater.capture.delivery.jsonl import EventFileSink
from headwater.capture.delivery.sink import EventSink
from headwater.errors import HeadwaterError, shorten

_FORMS = "file:///path/events.jsonl, http://host:port, https://host or console"


def sink_for(
    target: str, *, api_key: str | None = None, timeout: float = DEFAULT_TIMEOUT, gzip: bool = True
) -> EventSink:
    """The sink at ``target``. ``api_key``, ``timeout`` (seconds) and ``gzip`` matter to HTTP alone."""
    if target == "console":
        return ConsoleSink()
    try:
        parts = urlsplit(target)
        host, _ = parts.hostname, parts.port
    except ValueError:  # a port that is no number, a bracket without its pair
        raise HeadwaterError(f"'{_without_credentials(target)}' is not the address of a sink. Use {_FORMS}.") from None
    if parts.scheme in ("http", "https") and host:
        return HttpSink(target, api_key=api_key, timeout=timeout, gzip=gzip)
    if parts.scheme == "file":
        # By hand: `urllib.request`, which knows how, brings all of HTTP and TLS along.
        name = unquote(parts.path, errors="surrogateescape")
        path = Path(name.removeprefix("/") if sys.platform == "win32" else name)
        if host in (None, "localhost") and path.is_absolute() and path.name and not name.endswith("/"):
            return EventFileSink(path)
        raise HeadwaterError(
            f"'{_without_credentials(target)}' names no file of this machine. Write file:///path/events.jsonl."
        )
    raise HeadwaterError(f"No events can be sent to '{_without_credentials(target)}'. Use {_FORMS}.")


def _without_credentials(target: str) -> str:
    """Without what may be a password."""
    before, at, after = target.rpartition("@")
    return shorten(f"{before.partition('://')[0]}://…@{after}" if at else target)
