"""The Java classes that pair tables are made with (headwater/jvm.py)."""

from __future__ import annotations

from typing import Any

from headwater.jvm import JavaClasses
from headwater.rows.provenance import plan_words

_NAMES = ("Narrow", "Folder", "Paths")


def pair_classes(gateway: Any) -> JavaClasses:
    return JavaClasses(gateway, __package__, _NAMES, above=plan_words(gateway))
