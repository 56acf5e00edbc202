"""The datasets that a plan reads, by the names that the capture gives them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.capture.listener.jvm import CLASSES
from headwater.capture.listener.plan_facts import LOGICAL, Facts
from headwater.capture.naming.catalogs import catalogs_of
from headwater.capture.naming.plan_sources import LeafDatasets, read_leaf
from headwater.jvm import JavaClasses, JavaObject, gateway_of
from headwater.model.names import Dataset
from headwater.rows.spellings import plain_spelling

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class NamedSource:
    """The dataset of a source, and the paths of its data."""

    dataset: Dataset
    paths: tuple[str, ...] = ()
    catalog_name: Dataset | None = None
    """A table's name in its catalog, in addition to that of its folder."""

    def matches(self, text: str) -> bool:
        """Whether the text is the whole name of the source, or the end of it."""
        names = [variant for name in (self.dataset, self.catalog_name) if name for variant in (str(name), name.name)]
        suffix = plain_spelling(text)
        return any(name == suffix or name.endswith(f"/{suffix}") or name.endswith(f".{suffix}") for name in names)


def name_leaves(spark: SparkSession, leaves: Sequence[JavaObject]) -> list[NamedSource]:
    """``leaves`` are the plan's own, in the JVM. Data that the program itself made is numbered."""
    named = []
    for place, reading in enumerate(leaf_readings(spark, leaves)):
        roots = tuple(str(root) for root in reading.facts.get("roots") or ())
        if reading.datasets:
            target = reading.datasets[0]
            also = Dataset(*target.symlink) if target.symlink else None
            named.append(
                NamedSource(
                    Dataset(target.namespace, target.name), roots or ((target.uri,) if target.uri else ()), also
                )
            )
        else:
            kind = "range" if reading.facts["class"] == "Range" else "memory"
            named.append(NamedSource(Dataset("inmemory://", f"{kind}-{place + 1}")))
    return named


def leaf_readings(spark: SparkSession, leaves: Sequence[JavaObject]) -> list[LeafDatasets]:
    """The datasets behind each leaf of a plan."""
    classes = JavaClasses(gateway_of(spark.sparkContext), "headwater.capture.listener.jvm", CLASSES)
    plan_facts = classes.new("PlanFacts", json.dumps(LOGICAL))
    catalogs = catalogs_of(spark, dict(spark.sparkContext.getConf().getAll()))
    facts: list[Facts] = [json.loads(plan_facts.collectFacts(leaf, 1))[0] for leaf in leaves]
    return [read_leaf(leaf_facts, catalogs) for leaf_facts in facts]
