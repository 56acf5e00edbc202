"""Exports the lineage of a store to a file."""

from __future__ import annotations

import gzip as gzip_files
import io
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from headwater.errors import ExchangeError, FileRefused
from headwater.exchange.export_formats import DETAILS, Format
from headwater.exchange.importing import events_of
from headwater.exchange.validating import EVENTS
from headwater.formats.wia.elements import Element, ElementKind
from headwater.formats.wia.events import HEADWATER_KEY
from headwater.formats.wia.flat import time_text
from headwater.formats.wia.versions import VERSION
from headwater.model.answers import Direction
from headwater.model.exchange import ExportResult
from headwater.model.names import Endpoint
from headwater.store.exchange.graph_stream import GraphStream
from headwater.store.exchange.staging import Staging
from headwater.store.store import Store

PRODUCER = "headwater"
_LINES_PER_READ = 200


def export_file(
    store: Store,
    path: str | Path | None = None,
    *,
    format: str = Format.JSON,
    datasets: Sequence[str | Endpoint] = (),
    direction: str | None = None,
    depth: int | None = None,
    as_of: datetime | None = None,
    gzip: bool = False,
) -> ExportResult:
    file_format = _format(format)
    if gzip and file_format is Format.PARQUET:
        raise ExchangeError("Parquet files are compressed by themselves: export them without gzip.")
    target = _target(path, file_format, gzip)
    whole = not datasets and as_of is None and depth is None
    if file_format is Format.OPENLINEAGE and whole:
        return ExportResult(str(target), file_format, {EVENTS: _write_received(store, target, gzip)})
    counts: Counter[str] = Counter()
    with store.graphs.stream(
        datasets,
        directions=_directions(direction),
        depth=depth,
        as_of=as_of,
        acyclic=not DETAILS[file_format].draws_cycles,
    ) as stream:
        cycles = tuple(stream.cycles())
        elements = _counting(_with_header(stream, cycles), counts)
        if file_format is Format.PARQUET:
            with _new_folder(target) as folder:
                from headwater.formats.wia import parquet

                parquet.write(elements, folder)
        elif file_format is Format.OPENLINEAGE:
            _write_declared(elements, target, gzip)
        else:
            with _new_text(target, gzip) as out:
                DETAILS[file_format].writer(elements, out)
    totals = {str(kind): counts[kind] for kind in ElementKind if kind is not ElementKind.GRAPH}
    return ExportResult(str(target), file_format, totals, cycles)


def _format(name: str) -> Format:
    try:
        return Format(name)
    except ValueError:
        raise ExchangeError(f"'{name}' is not a format. Formats: {', '.join(Format)}.") from None


def _directions(name: str | None) -> tuple[Direction, ...]:
    if name in (None, "both"):
        return tuple(Direction)
    try:
        return (Direction(name),)
    except ValueError:
        raise ExchangeError(f"'{name}' is not a direction. Directions: both, {', '.join(Direction)}.") from None


def _target(path: str | Path | None, format: Format, gzip: bool) -> Path:
    """Return the output file; by default, or if ``path`` is a folder, with a generated name."""
    now = datetime.now(UTC)
    name = DETAILS[format].file_name.format(moment=now.strftime("%Y%m%dT%H%M%SZ"), date=now.date()) + (
        ".gz" if gzip else ""
    )
    if path is None:
        return Path(name)
    target = Path(path)
    return target / name if target.is_dir() and format is not Format.PARQUET else target


def _with_header(stream: GraphStream, cycles: Sequence[Sequence[str]]) -> Iterator[Element]:
    metadata: dict[str, object] = {"producer": PRODUCER}
    if cycles:
        metadata["custom"] = {HEADWATER_KEY: {"exported_by_version": [list(path) for path in cycles]}}
    yield (
        ElementKind.GRAPH,
        {
            "graph_id": stream.mint.id("graph"),
            "version": VERSION,
            "generated_at": time_text(datetime.now(UTC)),
            "metadata": metadata,
        },
    )
    yield from stream.elements()


def _counting(elements: Iterator[Element], counts: Counter[str]) -> Iterator[Element]:
    for kind, document in elements:
        counts[kind] += 1
        yield kind, document


# -- events ---------------------------------------------------------------------------------------


def _write_received(store: Store, target: Path, gzip: bool) -> int:
    """Write all events as received, one per line."""
    number = 0
    after: int | None = 0
    with _new_file(target, gzip) as out:
        while after is not None:
            after, portion = store.pages.lines_after(after, _LINES_PER_READ)
            out.write(b"".join(portion))
            number += len(portion)
    return number


def _write_declared(elements: Iterator[Element], target: Path, gzip: bool) -> None:
    """Write a part of the lineage as the declarations that an import would make from it."""
    with Staging() as staging, _new_text(target, gzip) as out:
        _, head = next(elements)
        for kind, document in elements:
            staging.add(kind, document)
        for event in events_of(staging, head["generated_at"]):
            out.write(event + "\n")


# -- files ----------------------------------------------------------------------------------------


@contextmanager
def _new_file(target: Path, gzip: bool) -> Iterator[IO[bytes]]:
    """Open a file under a temporary name, and rename it when it is complete."""
    unfinished = target.with_name(f"{target.name}.unfinished")
    try:
        with open(unfinished, "wb") as file:
            if gzip:
                # Without name and time in the header, so that equal content gives equal files.
                with gzip_files.GzipFile("", "wb", 6, file, mtime=0) as compressed:
                    yield compressed  # type: ignore[misc]
            else:
                yield file
        unfinished.replace(target)
    except OSError as error:
        raise FileRefused(str(target), None, error.strerror or str(error)) from None
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def _new_text(target: Path, gzip: bool) -> Iterator[IO[str]]:
    # Half a surrogate pair has no UTF-8 form; it is escaped as in JSON.
    with (
        _new_file(target, gzip) as binary,
        io.TextIOWrapper(io.BufferedWriter(binary, 2**20), "utf-8", "backslashreplace", "\n") as text,
    ):
        yield text


@contextmanager
def _new_folder(target: Path) -> Iterator[Path]:
    unfinished = target.with_name(f"{target.name}.unfinished")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        yield unfinished
        target.mkdir(exist_ok=True)
        for file in unfinished.iterdir():
            os.replace(file, target / file.name)
    except OSError as error:
        raise FileRefused(str(target), None, error.strerror or str(error)) from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
