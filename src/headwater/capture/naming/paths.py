"""Files: which folder is the dataset, and which of its partitions are meant.

A table on disk is read and written through many paths: a glob, a list of partition folders, one day's or one run's
folder. All of them are one dataset, named by what they share; the rest becomes the names of its partitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from posixpath import normpath
from urllib.parse import unquote, urlsplit

from headwater.capture.naming.dataset_ref import DatasetRef
from headwater.capture.naming.run_stamps import read_run_folder, read_stamp

_GLOB = re.compile(r"[*?\[{]")
_EVERYTHING = re.compile(r"\*(\.\w+)*")  # `*`, `*.csv`: all there is, not a choice
_HIVE_PARTITION = re.compile(r"([^/=]+)=([^/]*)")
_PART_FILE = re.compile(r"part-\d{5}-[0-9a-f-]{36}.*")  # what Spark calls the files it writes
_YEAR, _MONTH, _DAY = re.compile(r"(19|20)\d{2}"), re.compile(r"0?[1-9]|1[0-2]"), re.compile(r"0?[1-9]|[12]\d|3[01]")
_TABLE_FORMATS = ("delta", "iceberg", "hudi")
"""What lies in a folder of its own, and may be called after its own id."""
_OBJECT_STORES = {"s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gs", "wasbs": "wasbs", "abfss": "abfss", "abfs": "abfss"}

Partition = Mapping[str, str]


def file_datasets(
    roots: Iterable[str], *, requested: str | None = None, base: str | None = None, format: str | None = None
) -> list[DatasetRef]:
    """The datasets behind the paths that Spark resolved.

    ``requested`` is the path as the user wrote it, maybe with a glob; ``base`` the `basePath` option.
    """
    paths = [_without_glob(root) for root in roots]
    stamped = format not in _TABLE_FORMATS
    dataset_folder = _base_folder(paths, requested, base, stamped)
    everything = requested is not None and _EVERYTHING.fullmatch(requested.rsplit("/", 1)[-1]) is not None
    partitions: dict[tuple[str, str, str], list[Partition]] = {}
    for root in paths:
        folder, partition = (
            _split_partition(root, stamped)
            if dataset_folder is None
            else (dataset_folder, _partition_below(root, dataset_folder, everything))
        )
        partitions.setdefault((*_openlineage_name(folder), folder), []).append(partition)
    return [
        DatasetRef(
            namespace,
            name,
            "FILE",
            uri=folder,
            format=format,
            partitions=() if {} in chosen else tuple(_unique(chosen)),
        )
        for (namespace, name, folder), chosen in sorted(partitions.items(), key=lambda item: item[0])
    ]


def file_dataset(uri: str, *, format: str | None = None) -> DatasetRef:
    """The one dataset that a path belongs to."""
    return file_datasets([uri], format=format)[0]


def location_name(uri: str) -> tuple[str, str]:
    """The OpenLineage name of a storage location: (namespace, name)."""
    return _openlineage_name(uri)


def _openlineage_name(uri: str) -> tuple[str, str]:
    parts = urlsplit(uri)
    scheme, authority = parts.scheme.lower(), parts.netloc
    path = uri.split("://", 1)[-1][len(authority) :] if "://" in uri else uri.removeprefix(f"{parts.scheme}:")
    if scheme in ("", "file") or len(scheme) == 1:  # one letter: a drive of Windows
        path = uri if len(scheme) == 1 else path
        name = normpath(path).replace("//", "/", 1)
        return (f"file://{authority}" if authority else "file"), name
    if scheme in _OBJECT_STORES:
        return f"{_OBJECT_STORES[scheme]}://{authority}", normpath(path or "/").strip("/") or "/"
    return f"{scheme}://{authority}", normpath(path) if path else "/"


def _without_glob(root: str) -> str:
    """An RDD over files has the path as it was requested: the part before the first glob is the dataset's."""
    segments = root.split("/")
    first = next((index for index, segment in enumerate(segments) if "*" in segment), None)
    return root if first is None else "/".join(segments[:first])


def _base_folder(roots: list[str], requested: str | None, base: str | None, stamped: bool) -> str | None:
    """The folder that the user's `basePath` or glob stands for, in Spark's spelling: the user may write a relative
    path."""
    if base and roots:
        return _as_spark_spells(base, roots[0])
    if not requested or not _GLOB.search(requested):
        return None
    stems = {_split_partition(root, stamped)[0] for root in roots}
    if len(stems) == 1 and not stems & set(roots):  # every path names a partition, and they share the rest
        return None
    segments = requested.rstrip("/").split("/")
    first = next(index for index, segment in enumerate(segments) if _GLOB.search(segment))
    folders = {root.rsplit("/", len(segments) - first)[0] for root in roots}
    return _split_partition(folders.pop() or "/", stamped)[0] if len(folders) == 1 else None


def _as_spark_spells(base: str, root: str) -> str | None:
    """``base`` as a prefix of ``root``. A relative one is matched at its last occurrence."""
    steps = [step for step in _openlineage_name(base)[1].split("/") if step not in ("", ".", "..")]
    if not steps:
        return None
    wanted = f"/{'/'.join(steps)}/"
    position = f"{root}/".rfind(wanted)
    if position >= 0:
        return root[: position + len(wanted) - 1]
    return base if base.startswith("/") or ":" in base else None


def _partition_below(root: str, folder: str, everything: bool) -> Partition:
    """The part of the path below the dataset's own folder, read as a partition."""
    segments = _openlineage_name(root)[1].removeprefix(_openlineage_name(folder)[1]).strip("/").split("/")
    if _PART_FILE.fullmatch(segments[-1]):
        segments.pop()
    keyed = {match[1]: unquote(match[2]) for match in map(_HIVE_PARTITION.fullmatch, segments) if match}
    if keyed:
        return keyed
    if segments and _date_folder_count(segments) == len(segments):
        return {"date": "/".join(segments)}
    stamps = [stamp for stamp in map(read_run_folder, segments) if stamp]
    if segments and len(stamps) == len(segments):
        return {stamp.key: stamp.value for stamp in stamps}
    return {} if everything or segments in ([], [""]) else {"path": "/".join(segments)}


def _split_partition(uri: str, stamped: bool = True) -> tuple[str, Partition]:
    """Trailing folders that name a partition, Hive's `day=2026-11-15` or a date, are not part of the dataset's name,
    nor is the name of a single file that Spark wrote, nor (``stamped``) the time or id of a run."""
    scheme = re.match(r"(?:[a-zA-Z][\w+.-]+:)?", uri)
    head = scheme[0] if scheme else ""
    segments = uri[len(head) :].rstrip("/").split("/")
    keyed: dict[str, str] = {}
    if len(segments) > 1 and _PART_FILE.fullmatch(segments[-1]):
        segments.pop()
    while len(segments) > 1 and (match := _HIVE_PARTITION.fullmatch(segments[-1])):
        keyed = {match[1]: unquote(match[2]), **keyed}
        segments.pop()
    if stamped:
        keyed = {**_take_stamps(segments), **keyed}
    return f"{head}{'/'.join(segments) or '/'}", keyed


def _take_stamps(segments: list[str]) -> dict[str, str]:
    """Removes stamps from ``segments``: those at the end, then folders of runs and dates above. A name must be left."""
    keyed: dict[str, str] = {}
    while len(segments) > 2:
        dated = _date_folder_count(segments)
        if dated and len(segments) > dated + 1:
            keyed = {"date": "/".join(segments[-dated:]), **keyed}
            del segments[-dated:]
            continue
        stamp = read_stamp(segments[-1])
        if stamp is None:
            break
        keyed = {stamp.key: stamp.value, **keyed}
        if stamp.rest is not None:
            segments[-1] = stamp.rest
            break
        segments.pop()
    for index in range(len(segments) - 2, 0, -1):
        stamp = read_run_folder(segments[index])
        if stamp is not None:
            keyed = {stamp.key: stamp.value, **keyed}
            del segments[index]
    return keyed


def _date_folder_count(segments: list[str]) -> int:
    """How many folders at the end are a date: `2026/11/15`."""
    last = segments[-3:]
    fits = all(pattern.fullmatch(segment) for pattern, segment in zip((_YEAR, _MONTH, _DAY), last, strict=False))
    return 3 if len(last) == 3 and fits else 0


def _unique(partitions: Iterable[Partition]) -> Iterable[Partition]:
    return {tuple(partition.items()): partition for partition in partitions}.values()
