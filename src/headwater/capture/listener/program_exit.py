"""How the program ended: by itself, by an uncaught exception, or with an exit code.

Python forgets a `SystemExit` before it calls what is registered for the end of the process, so `sys.exit` is wrapped to
note the code that it gets. Whether the program caught that exit shows in the outermost frame of the program: a frame
that an exception has left never reached its return. A code that reaches Python in another way (`raise
SystemExit(3)`) is known only where `headwater exec` runs the program.
"""

from __future__ import annotations

import builtins
import dis
import sys
import threading
import traceback
from collections.abc import Callable
from functools import wraps
from types import FrameType
from typing import NoReturn, ParamSpec

from headwater.capture.events.run_types import Failure

_Arguments = ParamSpec("_Arguments")
_WRAPPED = "headwater_notes_the_code"
_codes: list[object] = []
"""The code of the newest exit of the main thread, if there was one."""


class ProgramExit:
    """Made while the program runs, in whichever thread; asked when it ends."""

    def __init__(self) -> None:
        frame = sys._current_frames().get(threading.main_thread().ident or 0)
        while frame is not None and frame.f_back is not None:
            frame = frame.f_back
        self._outermost = frame
        sys.exit = _noting(sys.exit)
        for name in ("exit", "quit"):  # absent without the module `site`
            if hasattr(builtins, name):
                setattr(builtins, name, _noting(getattr(builtins, name)))

    def failure(self) -> Failure | None:
        """None if the program ended by itself, or with a code of success."""
        if self._outermost is None or _has_returned(self._outermost):
            return None
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        if isinstance(error, BaseException):
            return failure_of(error)
        code = _codes[-1] if _codes else None
        if code is None or (isinstance(code, int) and code == 0):
            return None
        if isinstance(code, int):
            return Failure(f"SystemExit: the program ended with exit code {int(code)}.", "PYTHON")
        return Failure(f"SystemExit: the program ended with exit code 1: {code}", "PYTHON")


def failure_of(error: BaseException) -> Failure:
    return Failure(f"{type(error).__name__}: {error}", "PYTHON", "".join(traceback.format_exception(error)))


def note_code(code: object) -> None:
    _codes[:] = [code]


def _noting(leave: Callable[_Arguments, NoReturn]) -> Callable[_Arguments, NoReturn]:
    if getattr(leave, _WRAPPED, False):
        return leave

    @wraps(leave)
    def exit(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> NoReturn:
        if threading.current_thread() is threading.main_thread():  # in another thread it ends that thread alone
            note_code(arguments[0] if arguments else next(iter(named.values()), None))
        leave(*arguments, **named)

    setattr(exit, _WRAPPED, True)
    return exit


def _has_returned(frame: FrameType) -> bool:
    """Whether the frame's last instruction is a return."""
    return frame.f_lasti >= 0 and dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("RETURN_")
