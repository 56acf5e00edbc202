"""`headwater serve` as a process of its own, which can be drained and killed."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import uvicorn
from fastapi import FastAPI

from headwater.server.app.http_protocol import LimitedHttpProtocol
from tests.conftest import ROOT

_START_SECONDS = 30.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def in_this_process(app: FastAPI) -> Iterator[int]:
    """Like `headwater serve`, in a thread: yields the port. The test can access the application itself."""
    config = uvicorn.Config(app, port=free_port(), http=LimitedHttpProtocol, ws="none", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield config.port
    finally:
        app.state.service.drain()  # no signal comes here that would end the streams
        server.should_exit = True
        thread.join()


class ServerProcess:
    """Killed with all its children at the end of the block."""

    def __init__(self, store_url: str, *options: str, log: Path | None = None, **environment: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        self.command = [
            *(sys.executable, "-m", "headwater", "serve", "--store", store_url, "--port", str(self.port)),
            *options,
        ]
        self._environment = {**os.environ, **environment}
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def start(self) -> float:
        """Returns the seconds until it responded."""
        began = time.monotonic()
        with open(self.log or os.devnull, "ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=ROOT, env=self._environment, stdout=log, stderr=log, start_new_session=True
            )
        while self.process.poll() is None and time.monotonic() < began + _START_SECONDS:
            try:
                if self.get("/health/ready")[0] == 200:
                    return time.monotonic() - began
            except OSError:
                pass
            time.sleep(0.02)
        self.kill()
        raise AssertionError(f"the server did not start: {self.log and self.log.read_text()[-2000:]}")

    def kill(self) -> None:
        if self.process is not None:
            with_children = os.getpgid(self.process.pid) if self.process.poll() is None else None
            if with_children is not None:
                os.killpg(with_children, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def drain(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=40)
        self.process = None
        return code

    def get(self, path: str, **headers: str) -> tuple[int, Any]:
        return self.request("GET", path, None, **headers)

    def post(self, path: str, body: Any, **headers: str) -> tuple[int, Any]:
        return self.request("POST", path, body if isinstance(body, bytes) else json.dumps(body).encode(), **headers)

    def request(self, method: str, path: str, body: bytes | None, **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            with suppress(
                BrokenPipeError, ConnectionResetError
            ):  # it has heard enough, and has answered: so urllib3 takes it, too
                connection.request(method, path, body, {name.replace("_", "-"): told for name, told in headers.items()})
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        return answer.status, json.loads(text) if "json" in answer.getheader("content-type", "") else text
