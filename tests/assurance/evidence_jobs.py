"""Small jobs on real Spark, and the evidence in their final events."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import headwater as hw
from tests.capture.telling import Run
from tests.capture.watching import APPLICATION, Watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Json = dict[str, Any]
HASHES = ("configHash", "codeHash", "designHash")
_times = count(1_700_000_000)


@contextmanager
def proving(spark: SparkSession, folder: Path, **options: Any) -> Iterator[Watch]:
    folder.mkdir(exist_ok=True)
    file = folder / "events.jsonl"
    how = {"namespace": "tests", "job": APPLICATION, "spool": folder / "spool", **options}
    hw.enable(spark, sink=file.as_uri(), **how)
    try:
        watch = Watch(spark, file)
        watch.new_events()
        yield watch
    finally:
        hw.disable(spark)


def facets_of(run: Run) -> Json:
    """The evidence facets of the final event."""
    return {name: each for name, each in run.last["run"]["facets"].items() if name.startswith("cdme.")}


def ended(watch: Watch, job: Callable[[], object]) -> Json:
    """The evidence of the job's only run."""
    job()
    (run,) = watch.new_runs()
    return facets_of(run)


def manifest(facets: Json) -> Json:
    """The hashes by name, and the checksums by the last part of the dataset's name."""
    told = facets["cdme.runManifest"]
    found = {name: told[name] for name in HASHES if name in told}
    for way in ("inputChecksums", "outputChecksums"):
        found |= {f"{way}.{name.rpartition('/')[2]}": checksum for name, checksum in told[way].items()}
    return found


def differing(one: Json, other: Json) -> set[str]:
    assert one.keys() == other.keys()
    return {name for name in one if one[name] != other[name]}


def label(checksum: str) -> str:
    name, _, digest = checksum.partition(":")
    assert len(digest) == 64
    assert set(digest) <= set("0123456789abcdef")
    return name


def put(file: Path, text: str) -> None:
    """A file with a time of its own: file systems that count in whole seconds would have two writes be one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    now = next(_times)
    os.utime(file, (now, now))
