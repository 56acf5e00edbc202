"""Checks the version of Python."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from headwater.doctor.findings import DoctorOptions, Finding, failed, ok, warning

OLDEST, NEWEST = (3, 11), (3, 13)
"""The oldest version that the package requires, and the newest that it declares."""


def python(options: DoctorOptions) -> Iterator[Finding]:
    result = f"{'.'.join(map(str, sys.version_info[:3]))} at {sys.executable}"
    if sys.version_info[:2] < OLDEST:
        yield failed("Python", result, "Headwater needs Python 3.11 or later.")
    elif sys.version_info[:2] > NEWEST:
        yield warning("Python", result, "Headwater is tested up to Python 3.13. Use that version if something fails.")
    else:
        yield ok("Python", result)
