"""The Python environments: what each is made from, and what it works with."""

from __future__ import annotations

import os
from pathlib import Path

from tools.paths import DBT_LOCK, JAVA17_LOCK, JAVA_LOCK, MAIN_LOCK, ROOT, SPARK35_LOCK, SPARK41_LOCK


class Venv:
    """A Python environment that we make: its place, the lock that fills it, the Java and the Pythons it works with."""

    def __init__(
        self,
        folder: Path,
        lock: Path,
        java_majors: tuple[int, ...] = (17, 21),
        java_lock: Path = JAVA_LOCK,
        newest_python: tuple[int, int] | None = None,
    ) -> None:
        self.folder = folder
        self.name = folder.name
        self.lock = lock
        self.java_majors = java_majors
        self.java_lock = java_lock  # of the last of them, installed where none is found
        self.newest_python = newest_python
        self.bin = folder / ("Scripts" if os.name == "nt" else "bin")
        self.python = self.bin / ("python.exe" if os.name == "nt" else "python")
        self.stamp = folder / "headwater-setup.json"
        self.java_shim_home = folder / "java"
        self.java_shim = self.java_shim_home / "bin" / "java"


MAIN = Venv(ROOT / ".venv", MAIN_LOCK)
OTHER_SPARKS = {
    # Its Arrow does not work on Java 21, and its numpy has no wheels for a later Python.
    "3.5": Venv(ROOT / ".venv-spark35", SPARK35_LOCK, (17,), JAVA17_LOCK, newest_python=(3, 12)),
    "4.1": Venv(ROOT / ".venv-spark41", SPARK41_LOCK),
}
# Not in .venv: dbt pins versions of its own, and Headwater must work for a sender that has never heard of it.
DBT = Venv(ROOT / ".venv-dbt", DBT_LOCK)
