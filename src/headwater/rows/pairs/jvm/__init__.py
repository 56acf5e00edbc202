"""Java classes that write pair tables, written as headwater/jvm says."""

from __future__ import annotations

from headwater.jvm import JavaClasses, JavaObject
from headwater.rows.provenance import block_classes

_NAMES = ("NumericIds", "ParquetFolder", "PathNumbers")


def pair_classes(gateway: JavaObject) -> JavaClasses:
    return JavaClasses(gateway, __package__, _NAMES, above=block_classes(gateway))
