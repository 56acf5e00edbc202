"""The Java classes that pair tables are made with (headwater/jvm.py)."""

from __future__ import annotations

from typing import Any

from headwater.jvm import JavaClasses
from headwater.rows.provenance import block_classes

_NAMES = ("NumericIds", "ParquetFolder", "PathNumbers")


def pair_classes(gateway: Any) -> JavaClasses:
    return JavaClasses(gateway, __package__, _NAMES, above=block_classes(gateway))
