"""Reads request bodies within limits: compressed and decompressed bytes, time, and everything in flight."""

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
    """Limits how much waits to be stored. Requests beyond that get 429, so that memory does not grow."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self.requests = 0
        self.bytes = 0

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytes]:
        """Read the body, decompressed. It counts as in flight until the block is left."""
        if self.requests >= self._settings.requests_in_flight:
            raise _busy()
        self.requests += 1
        try:
            with self._budget() as budget:
                yield await _read(request, self._settings, budget)
        finally:
            self.requests -= 1

    @contextmanager
    def _budget(self) -> Iterator[_ByteBudget]:
        budget = _ByteBudget(self, self._settings)
        try:
            yield budget
        finally:
            self.bytes -= budget.bytes


class _ByteBudget:
    """The bytes that one body takes of the limit for all bodies in flight."""

    def __init__(self, reader: BodyReader, settings: ServerSettings) -> None:
        self._reader = reader
        self._limit = settings.bytes_in_flight
        self.bytes = 0

    def reserve(self, size: int) -> None:
        if self._reader.bytes + size > self._limit:
            raise _busy()
        self._reader.bytes += size
        self.bytes += size


async def _read(request: Request, settings: ServerSettings, budget: _ByteBudget) -> bytes:
    limit = settings.limit_bytes
    decoder = _decoder(request.headers.get("content-encoding"), limit)
    if _content_length(request) > limit:
        raise _too_large(limit)
    received, body = 0, bytearray()
    try:
        async with asyncio.timeout(settings.body_seconds):
            async for chunk in request.stream():
                received += len(chunk)
                if received > limit:
                    raise _too_large(limit)
                for piece in decoder.pieces(chunk):
                    budget.reserve(len(piece))
                    body += piece
    except TimeoutError:
        raise HttpProblem(
            408, "body_too_slow", f"The body took longer than {settings.body_seconds:g} s.", {"Connection": "close"}
        ) from None
    decoder.end()
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
    """Decompresses piece by piece, so that a small body that expands to a huge one is refused in time."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._stream = zlib.decompressobj(_GZIP)
        self._size = 0

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        while chunk:
            if self._stream.eof:  # several gzip members in a row are one body
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
