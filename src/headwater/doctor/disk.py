"""Checks the free disk space at the store."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from headwater.doctor.findings import DoctorOptions, Finding, failed, ok, warning
from headwater.doctor.store import nearest_existing
from headwater.errors import StoreError
from headwater.store.engine.database import file_at

_CRITICAL_FRACTION = 16
"""Below this fraction of the warning limit the check fails: a checkpoint of the write-ahead log may need the space."""


def disk(options: DoctorOptions) -> Iterator[Finding]:
    try:
        file = file_at(options.store)
    except StoreError:  # the check of the store reports it
        return
    if file is None:  # a database server's disk is not visible from here
        return
    folder = nearest_existing(file.parent)
    free = shutil.disk_usage(folder).free
    result = f"{_size(free)} free at {folder}"
    remedy = "Free disk space, or move the store: headwater db backup FILE copies it."
    if free < options.room // _CRITICAL_FRACTION:
        yield failed("disk", result, remedy)
    elif free < options.room:
        yield warning("disk", result, remedy)
    else:
        yield ok("disk", result)


def _size(number: int) -> str:
    return f"{number / 2**30:,.1f} GiB" if number >= 2**30 else f"{number / 2**20:,.0f} MiB"
