"""Lines of request files become records, or the reason why they are none."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

LINE_SCHEMA = (
    "root_id string, node_id string, parent_ids array<string>, action_taken string, storage_location string, "
    "recordedAt bigint, recorded_at timestamp, digest binary, day date, "
    "line string, file string, landed bigint, nth bigint, reason string"
)
"""A row is a record, or has a ``reason``; then the others say of what, so that it can be read again."""
_LINE = ("line", "file", "landed", "nth")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def line_reader(read_request: Callable[..., Any]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """For `mapInArrow` over (line, file, landed, nth): ``landed`` in microseconds, ``nth`` tells equal lines apart."""

    def read(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        schema = _schema()
        for batch in batches:
            rows = [row for line in zip(*batch.to_pydict().values(), strict=True) for row in _rows(line, read_request)]
            columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
            arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return read


def _schema() -> Any:
    import pyarrow as pa

    names = ("root_id", "node_id", "parent_ids", "action_taken", "storage_location")
    types = (pa.string(), pa.string(), pa.list_(pa.string()), pa.string(), pa.string())
    times = [("recordedAt", pa.int64()), ("recorded_at", pa.timestamp("us", "UTC"))]
    told = [("digest", pa.binary()), ("day", pa.date32())]
    about = [(name, pa.int64() if name in ("landed", "nth") else pa.string()) for name in (*_LINE, "reason")]
    return pa.schema([*zip(names, types, strict=True), *times, *told, *about])


def _rows(line: tuple[str, str, int, int], read_request: Callable[..., Any]) -> Iterator[tuple[Any, ...]]:
    records, refused = read_line(*line, read_request)
    for record in records:
        micros = (record.recorded_at - _EPOCH) // timedelta(microseconds=1)
        said = (record.root_id, record.node_id, list(record.parent_ids), record.action_taken, record.storage_location)
        told = (micros // 1_000_000, record.recorded_at, record.digest, record.day)
        yield (*said, *told, *(None,) * (len(_LINE) + 1))
    for reason in refused:
        yield (*(None,) * 9, *line, reason)


def read_line(
    text: str, file: str, landed: int, nth: int, read_request: Callable[..., Any]
) -> tuple[list[Any], list[str]]:
    """The records of a line, and why others of it are none. The same whenever it is read again."""
    try:
        request = json.loads(text)
    except (ValueError, RecursionError) as error:
        return [], [f"it is no JSON: {error}"]

    def new_id(place: int) -> str:
        told = "\0".join((file, str(nth), str(place), text))
        return sha256(told.encode(errors="surrogatepass")).hexdigest()[:20]

    # When the file was put there, unless the record says when it was.
    now = _EPOCH + timedelta(microseconds=landed)
    taken, refused = read_request(request, 0, now, new_id)
    reasons = [f"{'' if no.record is None else f'record {no.record}: '}{no.reason}" for no in refused]
    return [record for _, record in taken], reasons
