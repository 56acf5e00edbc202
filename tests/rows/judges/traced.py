"""What a trace says, in Python's own values: the form in which the oracles judge it, whoever made it."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

import headwater as hw
from tests.support.duck import Place, Values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.rows.answer import Trace

Pairs = Mapping[str, frozenset[Place]]  # by out_id


@dataclass(frozen=True)
class Traced:
    rows: Sequence[tuple[Values, str]]  # an output row and its out_id
    pairs: Mapping[str, Pairs]  # by the name of an occurrence
    grains: Mapping[str, str]  # by the name of an occurrence: the coarsest of its leaves
    verified: str = ""  # the answer's own verification

    def without(self, name: str, out_id: str, place: Place) -> Traced:
        """A trace that misses one row: what an oracle has to notice."""
        fewer = {**self.pairs[name], out_id: self.pairs[name][out_id] - {place}}
        return replace(self, pairs={**self.pairs, name: fewer})


GRAINS = ("exact", "group", "partition", "all", "opaque")


def trace(frame: DataFrame, names: Collection[str], where: str | None = None, verify_limit: int = 0) -> Traced:
    """By Headwater. ``names`` are also the folders that the occurrences read. The oracles judge without its own
    verification, unless they ask for it."""
    found = hw.trace(frame, where=where, verify_limit=verify_limit)
    rows = [(_plain(tuple(row)[:-1]), _id(row[-1])) for row in found.rows.collect()]
    pairs: dict[str, dict[str, set[Place]]] = {name: defaultdict(set) for name in names}
    grains = dict.fromkeys(names, "exact")
    collected = _collect_pairs(found)
    for occurrence, triples in zip(found.occurrences, collected, strict=True):
        name = name_of(occurrence.paths, names)
        grains[name] = max(grains[name], occurrence.grain, key=GRAINS.index)
        assert len(triples) == len(set(triples)), f"pairs of {name} are not distinct"
        for out_id, file, row in triples:
            pairs[name][out_id].add((file_name(file), row))
    verified = str(found.verified) if verify_limit else ""
    found.release()
    frozen = {name: {key: frozenset(places) for key, places in said.items()} for name, said in pairs.items()}
    return Traced(rows, frozen, grains, verified)


def _collect_pairs(found: Trace) -> list[list[tuple[str, str, int]]]:
    """Of each occurrence, by one execution for all of them."""
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F

    frames = [occurrence.pairs.withColumn("place", F.lit(place)) for place, occurrence in enumerate(found.occurrences)]
    collected: list[list[tuple[str, str, int]]] = [[] for _ in frames]
    for out_id, file, row, place in functools.reduce(DataFrame.unionAll, frames).collect() if frames else ():
        collected[place].append((_id(out_id), file, row))
    return collected


def name_of(paths: Sequence[str], names: Collection[str]) -> str:
    """The one folder of ours that all of an occurrence's paths lie in."""
    found = {part for path in paths for part in PurePath(unquote(urlparse(path).path)).parts if part in names}
    assert len(found) == 1, f"an occurrence reads {paths}, which is not one of {sorted(names)}"
    return found.pop()


def file_name(file: str) -> str:
    return PurePath(unquote(urlparse(file).path)).name


def _id(value: Any) -> str:
    return value.hex() if isinstance(value, bytes | bytearray) else str(value)


def _plain(value: Any) -> Any:
    """Rows within rows become tuples, as DuckDB's lists are compared with them."""
    return tuple(map(_plain, value)) if isinstance(value, list | tuple) else value
