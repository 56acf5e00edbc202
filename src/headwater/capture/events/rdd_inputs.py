"""What an RDD is made of: the files at the beginning of its dependencies, and data of the program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from headwater.capture.events.inputs import WriteInput
from headwater.capture.listener.plan_facts import Facts
from headwater.capture.naming.dataset_ref import DatasetRef
from headwater.capture.naming.paths import file_datasets
from headwater.plan.lineage import Gap

_OF_THE_PROGRAM = ("ParallelCollectionRDD",)
_EMPTY = ("EmptyRDD", "RangeRDD")


def rdd_inputs(nodes: Sequence[Facts], job: str) -> tuple[tuple[WriteInput, ...], tuple[Gap, ...]]:
    """``nodes`` are the facts about an RDD and those that it depends on."""
    inner = {node["parent"] for node in nodes}
    leaves = [node for index, node in enumerate(nodes) if index not in inner]
    datasets = file_datasets(path for leaf in leaves for path in rdd_paths(leaf))
    if any(leaf["class"] in _OF_THE_PROGRAM for leaf in leaves):
        datasets.append(DatasetRef("inmemory://", f"{job}.memory-1", "MEMORY"))
    gaps = dict.fromkeys(
        Gap(leaf["class"], f"{leaf['class']} is a source that Headwater does not know", ())
        for leaf in leaves
        if not rdd_paths(leaf) and leaf["class"] not in (*_OF_THE_PROGRAM, *_EMPTY)
    )
    inputs = {dataset.key: WriteInput(dataset, (), frozenset()) for dataset in datasets}
    return tuple(inputs.values()), tuple(gaps)


def rdd_paths(node: Facts) -> list[str]:
    """The folders that an RDD over files reads."""
    folders = node.get("folders")
    parents = {str(path).rsplit("/", 1)[0] for path in _flatten(node.get("files") or ())}
    return [*sorted(parents), *(folders.split(",") if folders else ())]


def _flatten(values: Iterable[object]) -> Iterator[object]:
    for value in values:
        if isinstance(value, list):
            yield from _flatten(value)
        else:
            yield value
