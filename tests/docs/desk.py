"""One Python that is a shell's `headwater`, and its `python`: what it has imported, and its JVM, it keeps.

    python desk.py open SOCKET                     the desk: does what it is handed, one after the other
    python desk.py hand SOCKET headwater ARG...    what the shell starts: hands over its arguments, and waits

The shell's folder, variables and files are those of the one who hands over. Ctrl-C reaches the desk.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import socket
import sys
from typing import Any

LENGTH = 8  # bytes, before what is handed over


def hand(address: str, arguments: list[str]) -> int:
    with socket.socket(socket.AF_UNIX) as desk:
        desk.connect(address)
        told = json.dumps([os.getcwd(), dict(os.environ), arguments]).encode()
        socket.send_fds(desk, [len(told).to_bytes(LENGTH, "big")], [0, 1, 2])
        desk.sendall(told)
        answers = desk.makefile()
        number = int(answers.readline())
        while True:
            try:
                return int(answers.readline())
            except KeyboardInterrupt:
                os.kill(number, signal.SIGINT)


def open_desk(address: str) -> None:
    import headwater.cli.app  # noqa: F401 (so that the first one does not wait for it either)

    with socket.socket(socket.AF_UNIX) as door:
        door.bind(f"{address}.new")
        door.listen()
        os.rename(f"{address}.new", address)  # who finds it can connect
        while True:
            caller, _ = door.accept()
            with caller:
                head, files, _, _ = socket.recv_fds(caller, LENGTH, 3)
                caller.sendall(f"{os.getpid()}\n".encode())
                with caller.makefile("rb") as told:
                    folder, variables, arguments = json.loads(told.read(int.from_bytes(head, "big")))
                code = do(folder, variables, arguments, files)
                caller.sendall(f"{code}\n".encode())


def do(folder: str, variables: dict[str, str], arguments: list[str], files: list[int]) -> int:
    own = [os.dup(number) for number in range(3)]
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    try:
        return do_with_new_streams(arguments)
    finally:
        for number, file in enumerate(own):
            os.dup2(file, number)
            os.close(file)


def do_with_new_streams(arguments: list[str]) -> int:
    """Those that Python made at its start take a pipe for the file that they began with."""
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
    """All commands, made once: `app` makes them anew for each call."""
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
        hw.disable()  # as a Python that ends does: the application's own run is over, too
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        sys.argv, sys.path = before
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "open":
        open_desk(sys.argv[2])
    else:
        sys.exit(hand(sys.argv[2], sys.argv[3:]))
