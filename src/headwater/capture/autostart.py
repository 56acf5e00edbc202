"""Capture without a change of code: every Spark session of this process is captured from its creation on.

`python -m headwater.capture.autostart script.py` runs a script that way (`headwater exec` does). If `HEADWATER_STORE`,
`HEADWATER_URL` or `HEADWATER_SINK` is set, a line in site-packages (headwater-autostart.pth) starts it in every Python
process, so `spark-submit` needs nothing else. Nothing is imported before pyspark is.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from headwater.capture.listener.when_imported import ImportHook, when_imported

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_Arguments = ParamSpec("_Arguments")
_Session = TypeVar("_Session", bound="SparkSession")
_SESSIONS = "pyspark.sql.session"
_MARK = "headwater_captures"


def install() -> None:
    """Wrap pyspark's session builder, now or when it is imported."""
    if not any(map(_is_ours, sys.meta_path)):
        when_imported(_SESSIONS, lambda: _wrap_builder(sys.modules[_SESSIONS]))


def disable_autostart() -> None:
    """For a process of Headwater that starts Spark to answer a question: its session is not a job to capture."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not _is_ours(finder)]


def _is_ours(finder: object) -> bool:
    return isinstance(finder, ImportHook) and finder.module == _SESSIONS


def _wrap_builder(module: ModuleType) -> None:
    builder = module.SparkSession.Builder
    if getattr(builder.getOrCreate, _MARK, False):
        return
    builder.getOrCreate = _capturing_builder(builder.getOrCreate)


def _capturing_builder(get_or_create: Callable[_Arguments, _Session]) -> Callable[_Arguments, _Session]:
    @wraps(get_or_create)
    def getOrCreate(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Session:
        session = get_or_create(*arguments, **named)
        _enable(session)
        return session

    setattr(getOrCreate, _MARK, True)
    return getOrCreate


def _enable(session: SparkSession) -> None:
    import logging

    import headwater
    from headwater.capture.listener.session import is_captured

    try:
        if not is_captured(session):
            sinks = [part for part in os.environ.get("HEADWATER_SINK", "").split(",") if part]
            store = os.environ.get("HEADWATER_STORE")
            headwater.enable(session, store=store, url=os.environ.get("HEADWATER_URL"), sink=sinks)
    except Exception as fault:
        logging.getLogger("headwater").warning("Lineage is not captured in this session. %s", fault)


def main() -> None:
    """Run a script as Python would, with every session captured."""
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    install()
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as leaving:
        from headwater.capture.listener.program_exit import note_code

        note_code(leaving.code)
        raise


if __name__ == "__main__":
    main()
