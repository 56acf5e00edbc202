"""Checks the version of pyspark without importing it, which takes a second."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from headwater.doctor.findings import DoctorOptions, Finding, failed, ok, warning

MIN_VERSION = (3, 5)
TESTED_VERSIONS = ("3.5", "4.1", "4.3")
"""The versions that the tests run on."""
_VERSION = re.compile(r"^__version__(?:\s*:\s*str)?\s*=\s*[\"']((\d+)\.(\d+)[^\"']*)[\"']", re.MULTILINE)


def spark(options: DoctorOptions) -> Iterator[Finding]:
    version = installed()
    tested = f"Headwater is tested on {', '.join(TESTED_VERSIONS)}."
    if version is None:
        yield warning("pyspark", "not installed", "To capture jobs or trace rows: pip install 'headwater[spark]'")
    elif version == "":
        yield failed(
            "pyspark",
            "is installed but does not report its version",
            "Reinstall it: pip install --force-reinstall pyspark",
        )
    elif (major_minor := _version_numbers(version)) < MIN_VERSION:
        yield failed("pyspark", version, f"Headwater needs Spark 3.5 or later. {tested}")
    elif ".".join(map(str, major_minor)) not in TESTED_VERSIONS:
        yield warning("pyspark", version, f"{tested} Test yours: headwater doctor --spark")
    else:
        yield ok("pyspark", version)


def installed() -> str | None:
    """Return the version of pyspark; None if it is not installed, empty if it does not report one."""
    spec = find_spec("pyspark")
    if spec is None:
        return None
    for folder in spec.submodule_search_locations or ():
        file = Path(folder) / "version.py"
        match = _VERSION.search(file.read_text(encoding="utf-8")) if file.is_file() else None
        if match is not None:
            return match[1]
    return ""


def _version_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])
