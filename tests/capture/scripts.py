"""Running a case's script, with the few names that scripts use."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import TYPE_CHECKING

from tests.capture.cases_file import Case
from tests.capture.shop import DERBY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_script(
    case: Case, spark: SparkSession, here: Path, shop: Path, more: Mapping[str, object] = MappingProxyType({})
) -> None:
    if case.is_sql:
        text = Template(case.script).substitute(here=here, shop=shop, derby=DERBY, **more)
        for statement in filter(str.strip, text.split(";\n")):
            spark.sql(statement.strip().removesuffix(";"))
        return
    from pyspark.sql import functions as F

    names: dict[str, object] = {
        "spark": spark,
        "F": F,
        "here": str(here),
        "shop": str(shop),
        "derby": DERBY,
        "relative": os.path.relpath,
        "fails": fails,
        "orders": spark.read.parquet(f"{shop}/orders"),
        "customers": spark.table("shop.customers"),
        **more,
    }
    exec(compile(case.script, str(case), "exec"), names)


def fails(action: Callable[[], object]) -> None:
    """For what is to go wrong: that it does."""
    try:
        action()
    except Exception:
        return
    raise AssertionError("it did not fail")
