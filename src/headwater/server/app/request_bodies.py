"""Bodies of requests, read with limits: of bytes as sent and unzipped, of time, and of all that waits at once."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from fastapi import Request

from headwater.server.app.problems import HttpProblem
from headwater.server.app.settings import ServerSettings

_CHUNK = 2**18
_GZIP = zlib.MAX_WBITS | 16
_RETRY_SECONDS = 1


class BodyReader:
    """How much may wait to be stored. Whoever comes on top of that is told to come again: memory does not grow."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self.requests = 0
        self.bytes = 0

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytes]:
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
    def _share(self) -> Iterator[_ByteBudget]:
        share = _ByteBudget(self, self._settings)
        try:
            yield share
        finally:
            self.bytes -= share.bytes


class _ByteBudget:
    """What one body holds of all that is in flight."""

    def __init__(self, gate: BodyReader, settings: ServerSettings) -> None:
        self._gate = gate
        self._most = settings.bytes_in_flight
        self.bytes = 0

    def grow(self, more: int) -> None:
        if self._gate.bytes + more > self._most:
            raise _busy()
        self._gate.bytes += more
        self.bytes += more


async def _read(request: Request, settings: ServerSettings, share: _ByteBudget) -> bytes:
    limit = settings.limit_bytes
    decode = _decoder(request.headers.get("content-encoding"), limit)
    if _content_length(request) > limit:
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
        raise HttpProblem(
            408, "body_too_slow", f"The body took longer than {settings.body_seconds:g} s.", {"Connection": "close"}
        ) from None
    decode.end()
    return bytes(body)


def _content_length(request: Request) -> int:
    text = request.headers.get("content-length", "0")
    return int(text) if text.isdecimal() and len(text) < 20 else 0


class _IdentityDecoder:
    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        yield chunk

    def end(self) -> None:
        pass


class _GzipDecoder:
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


def _decoder(encoding: str | None, limit: int) -> _IdentityDecoder | _GzipDecoder:
    named = (encoding or "identity").strip().lower()
    if named == "identity":
        return _IdentityDecoder()
    if named in ("gzip", "x-gzip"):
        return _GzipDecoder(limit)
    raise HttpProblem(
        415, "encoding_unsupported", "Unknown Content-Encoding. Send the body plain or with gzip.",
        {"Accept-Encoding": "gzip"},
    )  # fmt: skip


def _busy() -> HttpProblem:
    return HttpProblem(
        429, "busy", "The ingest queue is full. Retry in a moment.", {"Retry-After": str(_RETRY_SECONDS)}
    )


def _too_large(limit: int) -> HttpProblem:
    return HttpProblem(413, "body_too_large", f"The body is longer than {limit} bytes.", {"Connection": "close"})


def _not_gzip() -> HttpProblem:
    return HttpProblem(400, "body_not_gzip", "The body is not valid gzip, or incomplete.")
