"""Versions of the format, by semantic versioning: what a later minor version adds is kept, not interpreted."""

from __future__ import annotations

import re

from headwater.errors import FileRefused, FormatTooNew

VERSION = "1.0.0"
_SEMVER = re.compile(r"(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:[-+][0-9A-Za-z.+-]*)?\Z")


def refuse_later_major(file: str, version: str) -> None:
    match = _SEMVER.match(version)
    if match is None:
        raise FileRefused(file, "version", f"'{version}' is not a version like {VERSION}")
    if int(match[1]) > int(VERSION.split(".", 1)[0]):
        raise FormatTooNew(file, version, VERSION)
