"""Run all `headwater` and `python` commands of a shell in one process, which keeps its imports and its JVM.

    python command_process.py serve SOCKET                     runs the commands that it receives, one after the other
    python command_process.py send SOCKET headwater ARG...     sends a command and waits for its exit code

A command runs with the sender's folder, environment and files. Ctrl-C is forwarded to the process.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import socket
import sys
from typing import Any

LENGTH = 8  # bytes of the length before a payload


def send_command(address: str, arguments: list[str]) -> int:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        payload = json.dumps([os.getcwd(), dict(os.environ), arguments]).encode()
        socket.send_fds(connection, [len(payload).to_bytes(LENGTH, "big")], [0, 1, 2])
        connection.sendall(payload)
        answers = connection.makefile()
        number = int(answers.readline())
        while True:
            try:
                return int(answers.readline())
            except KeyboardInterrupt:
                os.kill(number, signal.SIGINT)


def serve_commands(address: str) -> None:
    import headwater.cli.app  # noqa: F401 (so that the first command does not wait for the import)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{address}.new")
        listener.listen()
        os.rename(f"{address}.new", address)  # when it exists, clients can connect
        while True:
            connection, _ = listener.accept()
            with connection:
                head, files, _, _ = socket.recv_fds(connection, LENGTH, 3)
                connection.sendall(f"{os.getpid()}\n".encode())
                with connection.makefile("rb") as payload:
                    folder, variables, arguments = json.loads(payload.read(int.from_bytes(head, "big")))
                code = run_command(folder, variables, arguments, files)
                connection.sendall(f"{code}\n".encode())


def run_command(folder: str, variables: dict[str, str], arguments: list[str], files: list[int]) -> int:
    own = [os.dup(number) for number in range(3)]
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    try:
        return run_with_new_streams(arguments)
    finally:
        for number, file in enumerate(own):
            os.dup2(file, number)
            os.close(file)


def run_with_new_streams(arguments: list[str]) -> int:
    """Python's own stream objects assume the kind of file that the process was started with."""
    before = sys.stdout, sys.stderr
    with (
        open(1, "w", encoding="utf-8", closefd=False) as out,
        open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False) as err,
    ):
        sys.stdout, sys.stderr = out, err
        try:
            program, *rest = arguments
            return run_headwater(rest) if program == "headwater" else run_python(rest)
        except KeyboardInterrupt:
            return 130
        finally:
            sys.stdout, sys.stderr = before


def run_headwater(arguments: list[str]) -> int:
    from headwater.cli.failures import run_app

    return run_app(command_tree(), arguments)


@functools.cache
def command_tree() -> Any:
    """All commands, built once: `app` builds them again for each call."""
    import typer.main

    from headwater.cli.app import app

    return typer.main.get_command(app)


def run_python(arguments: list[str]) -> int:
    import runpy
    import traceback

    import headwater as hw

    before: tuple[Any, Any] = sys.argv, sys.path
    sys.argv, sys.path = arguments, [os.path.dirname(os.path.abspath(arguments[0])), *sys.path]
    try:
        runpy.run_path(arguments[0], run_name="__main__")
        hw.flush(600)
        hw.disable()  # as at the end of a Python process: the application's own run ends, too
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        sys.argv, sys.path = before
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve_commands(sys.argv[2])
    else:
        sys.exit(send_command(sys.argv[2], sys.argv[3:]))
