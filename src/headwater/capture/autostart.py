"""Capture without a change of code: every session of this process is watched from the moment it is made.

`python -m headwater.capture.autostart script.py` runs a script so (`headwater exec` does). A process that has
`HEADWATER_STORE`, `HEADWATER_URL` or `HEADWATER_SINK` set gets it at its start by a line in site-packages
(headwater-autostart.pth), so `spark-submit` needs nothing else. Nothing is imported before pyspark is.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import runpy
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

_SESSIONS = "pyspark.sql.session"


def install() -> None:
    """Watch for pyspark's sessions, now or when it is imported."""
    if _SESSIONS in sys.modules:
        _watch(sys.modules[_SESSIONS])
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def stand_back() -> None:
    """For a process of ours that starts Spark to answer a question: its session is nobody's job."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]


class _Finder(importlib.abc.MetaPathFinder):
    """Finds pyspark's session module as Python would, and has it watched once it is loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != _SESSIONS:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _watch(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)  # resources, source code: what else the loader offers


def _watch(module: Any) -> None:
    builder = module.SparkSession.Builder
    if getattr(builder.getOrCreate, "watched", False):
        return
    builder.getOrCreate = _watched(builder.getOrCreate)


def _watched(get_or_create: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def getOrCreate(self: Any) -> Any:
        session = get_or_create(self)
        _enable(session)
        return session

    getOrCreate.__doc__ = get_or_create.__doc__
    getOrCreate.watched = True  # type: ignore[attr-defined]
    return getOrCreate


def _enable(session: Any) -> None:
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
    """Run a script as Python would, with every session watched."""
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    install()
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
