"""Bodies of requests, read with limits: of bytes as sent and unzipped, of time, and of all that waits at once."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from fastapi import Request

from headwater.server.app.problems import Problem
from headwater.server.app.settings import Settings

_CHUNK = 2**18
_GZIP = zlib.MAX_WBITS | 16
_RETRY_SECONDS = 1


class Gate:
    """How much may wait to be stored. Whoever comes on top of that is told to come again: memory does not grow."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.requests = 0
        self.bytes = 0

    @asynccontextmanager
    async def body(self, request: Request) -> AsyncIterator[bytes]:
        """The request's body, unzipped. It counts until the block is left."""
        if self.requests >= self._settings.requests_in_flight:
            raise _busy()
        self.requests += 1
        try:
            with self._share() as share:
                yield await _read(request, self._settings, share)
        finally:
            self.requests -= 1

    @contextmanager
    def _share(self) -> Iterator[_Share]:
        share = _Share(self, self._settings)
        try:
            yield share
        finally:
            self.bytes -= share.bytes


class _Share:
    """What one body holds of all that is in flight."""

    def __init__(self, gate: Gate, settings: Settings) -> None:
        self._gate = gate
        self._most = settings.bytes_in_flight
        self.bytes = 0

    def grow(self, more: int) -> None:
        if self._gate.bytes + more > self._most:
            raise _busy()
        self._gate.bytes += more
        self.bytes += more


async def _read(request: Request, settings: Settings, share: _Share) -> bytes:
    limit = settings.limit_bytes
    decode = _decoder(request.headers.get("content-encoding"), limit)
    if _announced(request) > limit:
        raise _too_large(limit)
    received, body = 0, bytearray()
    try:
        async with asyncio.timeout(settings.body_seconds):
            async for chunk in request.stream():
                received += len(chunk)
                if received > limit:
                    raise _too_large(limit)
                for piece in decode.pieces(chunk):
                    share.grow(len(piece))
                    body += piece
    except TimeoutError:
        raise Problem(
            408, "body_too_slow", f"The body took longer than {settings.body_seconds:g} s.", {"Connection": "close"}
        ) from None
    decode.end()
    return bytes(body)


def _announced(request: Request) -> int:
    text = request.headers.get("content-length", "0")
    return int(text) if text.isdecimal() and len(text) < 20 else 0


class _Plain:
    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        yield chunk

    def end(self) -> None:
        pass


class _Gzip:
    """Piece by piece, so that a small body that unzips to a huge one is noticed before it is there."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._stream = zlib.decompressobj(_GZIP)
        self._size = 0

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        while chunk:
            if self._stream.eof:  # several members one after another are one body
                self._stream = zlib.decompressobj(_GZIP)
            try:
                piece = self._stream.decompress(chunk, _CHUNK)
            except zlib.error:
                raise _not_gzip() from None
            chunk = self._stream.unconsumed_tail or self._stream.unused_data
            self._size += len(piece)
            if self._size > self._limit:
                raise _too_large(self._limit)
            yield piece

    def end(self) -> None:
        if not self._stream.eof:
            raise _not_gzip()


def _decoder(encoding: str | None, limit: int) -> _Plain | _Gzip:
    named = (encoding or "identity").strip().lower()
    if named == "identity":
        return _Plain()
    if named in ("gzip", "x-gzip"):
        return _Gzip(limit)
    raise Problem(
        415, "encoding_unsupported", "Unknown Content-Encoding. Send the body plain or with gzip.",
        {"Accept-Encoding": "gzip"},
    )  # fmt: skip


def _busy() -> Problem:
    return Problem(429, "busy", "The ingest queue is full. Retry in a moment.", {"Retry-After": str(_RETRY_SECONDS)})


def _too_large(limit: int) -> Problem:
    return Problem(413, "body_too_large", f"The body is longer than {limit} bytes.", {"Connection": "close"})


def _not_gzip() -> Problem:
    return Problem(400, "body_not_gzip", "The body is not valid gzip, or incomplete.")
