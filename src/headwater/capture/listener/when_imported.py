"""An action when a module is imported, so that nothing is imported before the program needs it."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType


def when_imported(module: str, action: Callable[[], None]) -> None:
    """Call ``action`` now if the module is there, else once it is."""
    if module in sys.modules:
        action()
    else:
        sys.meta_path.insert(0, ImportHook(module, action))


class ImportHook(importlib.abc.MetaPathFinder):
    """Finds a module as Python would, and calls ``action`` once it is loaded."""

    def __init__(self, module: str, action: Callable[[], None]) -> None:
        self.module = module
        self._action = action

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self.module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._action)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader, action: Callable[[], None]) -> None:
        self._loader = loader
        self._action = action

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._action()

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)  # resources, source code: what else the loader offers
