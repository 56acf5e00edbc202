"""Datasets that one run wrote and another read, and whether both state the same checksum of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headwater.formats.openlineage.event import Event
from headwater.model.names import Dataset


def shared_datasets(writer: Event, readers: Iterable[Event]) -> tuple[Dataset, ...]:
    """The datasets that both name, as the events name them."""
    read = {use.dataset for event in readers for use in event.inputs}
    return tuple(sorted(read & {use.dataset for use in writer.outputs}))


def same_state(
    datasets: Iterable[Dataset], before_checksums: Mapping[str, str], after_checksums: Mapping[str, str]
) -> bool | None:
    """``before_checksums`` and ``after_checksums`` are checksums by the dataset's name, alone or with its namespace.

    Only checksums of the same algorithm are compared; None if there are none.
    """
    answers: set[bool] = set()
    for dataset in datasets:
        before, after = _checksum_of(dataset, before_checksums), _checksum_of(dataset, after_checksums)
        if before is not None and after is not None and _algorithm(before) == _algorithm(after):
            answers.add(before == after)
    return all(answers) if answers else None


def _checksum_of(dataset: Dataset, checksums: Mapping[str, str]) -> str | None:
    return next((checksums[name] for name in (str(dataset), dataset.name) if name in checksums), None)


def _algorithm(checksum: str) -> str:
    return checksum.partition(":")[0]
