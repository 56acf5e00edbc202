"""A port on loopback that leads to a Unix socket, for a client that supports only ports, such as a JDBC driver."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread


@contextmanager
def relayed(socket: Path) -> Iterator[int]:
    """Yields the port; it is open during the block."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="relay", daemon=True)
    thread.start()
    try:
        server = asyncio.run_coroutine_threadsafe(_listen(socket), loop).result(10)
        yield server.sockets[0].getsockname()[1]
        asyncio.run_coroutine_threadsafe(_close(server), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def _listen(socket: Path) -> asyncio.Server:
    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_unix_connection(str(socket))
        await asyncio.gather(_pass_on(reader, to_server), _pass_on(from_server, writer))

    return await asyncio.start_server(connect, "127.0.0.1", 0)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until one side closes; its end is forwarded too."""
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass  # whoever broke off has told both sides by that
    finally:
        writer.close()


async def _close(server: asyncio.Server) -> None:
    """Connections that are still open are closed with the relay."""
    server.close()
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
