"""The gap of a frame that the program made after it had read rows into the driver.

`spark.createDataFrame(frame.toPandas())` cuts the lineage: no plan shows where the rows come from. What is known is
what had been read before, so the gap names it, and the lineage of such a write is not complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from headwater.capture.listener.plan_facts import Facts
from headwater.capture.naming.dataset_ref import DatasetRef
from headwater.plan.lineage import Gap, LineageSource, PlanLineage

_OF_THE_PROGRAM = ("LogicalRDD", "ExternalRDD", "LocalRelation")
_MAX_NAMES = 5


def with_driver_gaps(
    lineage: PlanLineage, leaves: Mapping[int, Facts], read_before: Callable[[], Sequence[DatasetRef]]
) -> PlanLineage:
    """``read_before``: the datasets that the program had read into the driver."""
    frames = [index for index, source in enumerate(lineage.sources) if _is_of_the_program(source, leaves)]
    datasets = read_before() if frames else ()
    if not datasets:
        return lineage
    gaps = (_gap(lineage, index, datasets) for index in frames)
    return replace(lineage, gaps=tuple(dict.fromkeys((*lineage.gaps, *gaps))))


def _gap(lineage: PlanLineage, index: int, datasets: Iterable[DatasetRef]) -> Gap:
    columns = tuple(
        column.name
        for column in lineage.columns
        if any(derivation.source == index for derivation in column.derivations)
    )
    reason = (
        f"the program made these rows after it had read {_names(datasets)} into the driver: "
        "they may come from there, and no plan shows it"
    )
    return Gap(lineage.sources[index].kind, reason, columns)


def _is_of_the_program(source: LineageSource, leaves: Mapping[int, Facts]) -> bool:
    """Not the values in a statement, nor an RDD over files, which has a gap that says so."""
    if source.kind not in _OF_THE_PROGRAM:
        return False
    facts = next((leaves[attribute.expr_id] for attribute in source.attributes if attribute.expr_id in leaves), None)
    return facts is None or "line" not in facts


def _names(datasets: Iterable[DatasetRef]) -> str:
    names = list(dict.fromkeys(dataset.symlink[1] if dataset.symlink else dataset.name for dataset in datasets))
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
