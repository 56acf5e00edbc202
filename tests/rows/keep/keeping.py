"""A write under capture, and its plan got back and run again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from headwater.formats.openlineage.signed_rows import SIGNATURE, FacetPlace, signed_text
from headwater.model.names import Dataset, Job
from headwater.proof.keys import SigningKey, key_text
from headwater.rows.kept_queries.restore import RestoredQuery, restore
from headwater.rows.kept_queries.trust import PlanTrust, TrustedFacet
from tests.capture.telling import Json
from tests.capture.watching import Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


PLACE = FacetPlace("01933f00-0000-7000-8000-000000000001", Job("tests", "job"), Dataset("file", "/out"))


class Keeping:
    """Has writes captured, and what was kept of them."""

    def __init__(self, watch: Watch, folder: Path) -> None:
        self.spark = watch.spark
        self.folder = folder
        self._watch = watch
        self._writes = 0

    def of(self, write: Callable[[], object]) -> Json:
        """The facet of the one write that ``write`` does."""
        self._watch.new_events()
        write()
        facets = [
            output["outputFacets"]["headwater_rows"]
            for event in self._watch.new_events()
            for output in event.get("outputs", ())
            if "headwater_rows" in output.get("outputFacets", {})
        ]
        (facet,) = facets
        return cast(Json, facet)

    def frame(self, frame: DataFrame) -> Json:
        """The facet of writing a frame to a new folder."""
        return self.of(lambda: frame.write.parquet(self.new_folder()))

    def new_folder(self) -> str:
        self._writes += 1
        return str(self.folder / f"out{self._writes}")

    def again(self, facet: Json, **how: Any) -> RestoredQuery:
        """As a capture whose key is trusted has sent it: what the other walls refuse is seen behind the first."""
        return restore(self.spark, trusted(facet), **how)


def signed(facet: Json, key: SigningKey, place: FacetPlace = PLACE) -> Json:
    """The facet as it would be in an event, signed anew."""
    facet = {name: value for name, value in facet.items() if name != SIGNATURE}
    value = key.sign(signed_text(facet, place)).hex()
    return {**facet, SIGNATURE: {"key": key_text(key.public), "value": value}}


def trusted(facet: Json, **options: Any) -> TrustedFacet:
    key = SigningKey.new()
    return PlanTrust(frozenset({key_text(key.public)}), **options).verify(signed(facet, key), PLACE)


def run(spark: SparkSession, restored: RestoredQuery) -> DataFrame:
    """The restored plan as a frame."""
    from pyspark.sql import DataFrame

    jvm: Any = spark._jvm
    session: Any = spark._jsparkSession
    package = jvm.org.apache.spark.sql
    datasets = package.classic.Dataset if spark.version >= "4" else package.Dataset
    return DataFrame(datasets.ofRows(session, restored.plan), spark)


def rows_of(frame: DataFrame) -> Counter[str]:
    """As a bag, since no plan promises an order; values as text, since not all can be hashed."""
    return Counter(map(repr, frame.collect()))
