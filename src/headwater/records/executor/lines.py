"""Reads lines of request files: each yields records, or the reason why it is refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from headwater.model.record_schema import (
    ARCHIVED,
    DAY,
    RecordField,
    arrow_fields,
    content_of,
    spark_schema,
    with_parents,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa

    from headwater.model.records import Record, Refusal

    ReadRequest = Callable[
        [object, int, datetime, Callable[[int], str]], "tuple[list[tuple[int | None, Record]], list[Refusal]]"
    ]
    """:func:`headwater.records.intake.requests.read_request`."""
    BatchReader = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_RECORD = (*(field for field in ARCHIVED if field.name != "load"), DAY)
_LINE = (
    RecordField("line", "text"),
    RecordField("file", "text"),
    RecordField("landed", "long"),
    RecordField("nth", "long"),
    RecordField("reason", "text"),
)
LINE_SCHEMA = spark_schema((*_RECORD, *_LINE))
"""A row is a record, or a refused line with its ``reason`` and where it is from, so that it can be read again."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def line_reader(read_request: ReadRequest) -> BatchReader:
    """For `mapInArrow` over (line, file, landed, nth): ``landed`` is in microseconds, ``nth`` numbers equal lines."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        schema = pa.schema(arrow_fields((*_RECORD, *_LINE)))
        for batch in batches:
            rows = [row for line in zip(*batch.to_pydict().values(), strict=True) for row in _rows(line, read_request)]
            columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
            arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return read


def _rows(line: tuple[str, str, int, int], read_request: ReadRequest) -> Iterator[tuple[object, ...]]:
    records, refused = read_line(*line, read_request)
    for record in records:
        micros = (record.recorded_at - _EPOCH) // timedelta(microseconds=1)
        content = with_parents(content_of(record), list(record.parent_ids))
        yield (*content, micros // 1_000_000, record.recorded_at, record.digest, record.day, *(None,) * len(_LINE))
    for reason in refused:
        yield (*(None,) * len(_RECORD), *line, reason)


def read_line(text: str, file: str, landed: int, nth: int, read_request: ReadRequest) -> tuple[list[Record], list[str]]:
    """The records of a line, and the reasons why others in it are refused. Reading it again gives the same."""
    try:
        request = json.loads(text)
    except (ValueError, RecursionError) as error:
        return [], [f"it is not JSON: {error}"]

    def new_id(position: int) -> str:
        source = "\0".join((file, str(nth), str(position), text))
        return sha256(source.encode(errors="surrogatepass")).hexdigest()[:20]

    # The time of the file, for records without a time of their own.
    now = _EPOCH + timedelta(microseconds=landed)
    accepted, refused = read_request(request, 0, now, new_id)
    prefixes = ["" if refusal.record is None else f"record {refusal.record}: " for refusal in refused]
    reasons = [f"{prefix}{refusal.reason}" for prefix, refusal in zip(prefixes, refused, strict=True)]
    return [record for _, record in accepted], reasons
