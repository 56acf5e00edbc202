"""Java classes that write pair tables (headwater/jvm.py).

They are compiled by Janino, the compiler that Spark brings along. It knows no generics and no lambdas, so the sources
have none.
"""

from __future__ import annotations

from headwater.jvm import JavaClasses, JavaObject
from headwater.rows.provenance import block_classes

_NAMES = ("NumericIds", "ParquetFolder", "PathNumbers")


def pair_classes(gateway: JavaObject) -> JavaClasses:
    return JavaClasses(gateway, __package__, _NAMES, above=block_classes(gateway))
