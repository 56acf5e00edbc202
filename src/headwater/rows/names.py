"""Which datasets the sources of a plan are, by the names that capture gives them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.capture.listener.jvm import CLASSES
from headwater.capture.listener.plan_facts import LOGICAL
from headwater.capture.naming.catalogs import catalogs_of
from headwater.capture.naming.plan_sources import Reading, read_leaf
from headwater.jvm import JavaClasses
from headwater.model.names import Dataset

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class NamedSource:
    """What a source is called, and where its data lies."""

    dataset: Dataset
    paths: tuple[str, ...] = ()
    catalog_name: Dataset | None = None
    """A table's name in its catalog, beside that of its folder."""

    def matches(self, asked: str) -> bool:
        """A source may be asked for by its whole name, or by the end of it, as of a path."""
        names = [each for name in (self.dataset, self.catalog_name) if name for each in (str(name), name.name)]
        wanted = asked.rstrip("/")
        return any(name == wanted or name.endswith(f"/{wanted}") or name.endswith(f".{wanted}") for name in names)


def name_leaves(spark: SparkSession, leaves: Sequence[Any]) -> list[NamedSource]:
    """``leaves`` are the plan's own, in the JVM. Data of the program itself is numbered."""
    found = []
    for place, reading in enumerate(leaf_readings(spark, leaves)):
        roots = tuple(str(root) for root in reading.facts.get("roots") or ())
        if reading.places:
            at = reading.places[0]
            also = Dataset(*at.also) if at.also else None
            found.append(NamedSource(Dataset(at.namespace, at.name), roots or ((at.uri,) if at.uri else ()), also))
        else:
            kind = "range" if reading.facts["class"] == "Range" else "memory"
            found.append(NamedSource(Dataset("inmemory://", f"{kind}-{place + 1}")))
    return found


def leaf_readings(spark: SparkSession, leaves: Sequence[Any]) -> list[Reading]:
    """The datasets behind each leaf of a plan."""
    classes = JavaClasses(spark.sparkContext._gateway, "headwater.capture.listener.jvm", CLASSES)
    survey = classes.new("Survey", json.dumps(LOGICAL))
    catalogs = catalogs_of(spark, dict(spark.sparkContext.getConf().getAll()))
    facts: list[Mapping[str, Any]] = [json.loads(survey.of(leaf, 1))[0] for leaf in leaves]
    return [read_leaf(each, catalogs) for each in facts]
