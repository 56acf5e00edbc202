"""Prints errors as one line with an exit code, without a traceback.

Exit codes: 1 for an error that the line names, 2 for wrong usage, 130 when interrupted.
"""

from __future__ import annotations

import contextlib
import os
import sys
from io import TextIOWrapper

import typer

from headwater.cli.text import printable
from headwater.errors import HeadwaterError

DEBUG_VARIABLE = "HEADWATER_DEBUG"


class CliError(Exception):
    """An error that a command itself detected, in its arguments or in the environment."""


def run_app(app: typer.Typer, arguments: list[str] | None = None) -> int:
    """Run ``app`` and return the exit code of the process."""
    _set_up_streams()
    try:
        code = _run(app, arguments)
    except BrokenPipeError:  # the reader, such as `head`, closed the pipe
        code = 1
    if not _flush(quiet=code != 0):
        code = code or 1
        # Python flushes again at exit, and would report an error.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _set_up_streams() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed before the process started
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (it is open until the process ends)
        elif isinstance(stream, TextIOWrapper):
            # A terminal that cannot show a character gets its escape: a name must never break the output.
            stream.reconfigure(errors="backslashreplace")


def _run(app: typer.Typer, arguments: list[str] | None) -> int:
    debug = os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")
    try:
        result = app(args=arguments, prog_name="headwater", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except SystemExit as stop:  # Rich and Typer exit this way when the pipe is closed
        return stop.code if isinstance(stop.code, int) else 1
    except BrokenPipeError:
        raise
    except Exception as error:
        usage = _usage_message(error)
        if usage is not None:
            print_error(usage)
            return 2
        if debug:
            raise
        print_error(_message(error))
        return 1
    return result if isinstance(result, int) else 0


def print_error(message: str) -> None:
    """Print `Error: …` on stderr, in one line whatever the message contains."""
    colored = not os.environ.get("NO_COLOR")
    typer.secho("Error:", err=True, nl=False, fg="red" if colored else None, bold=True if colored else None)
    typer.echo(f" {printable(message)}", err=True)


def _usage_message(error: Exception) -> str | None:
    # Typer's usage errors changed their base class and module between versions; this method is stable.
    format_message = getattr(error, "format_message", None)
    if format_message is None:
        return None
    context = getattr(error, "ctx", None)
    hint = f" See {context.command_path} --help." if context is not None else ""
    text = " ".join(str(format_message()).split())
    return text + ("" if text.endswith((".", "?")) else ".") + hint


def _message(error: Exception) -> str:
    if isinstance(error, HeadwaterError | CliError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename is not None else f"{error.strerror}."
    reason = (str(error).strip().splitlines() or [""])[0]
    what = type(error).__name__ + (f": {reason}" if reason else "")
    return f"Internal error ({what}). {DEBUG_VARIABLE}=1 shows the traceback."


def _flush(quiet: bool) -> bool:
    """Flush stdout and return whether it worked; a failure is printed, unless an error was printed already."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return False
    except (OSError, ValueError) as error:
        if not quiet:
            print_error(_message(error))
        return False
    return True
