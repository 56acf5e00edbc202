"""Files that the driver writes: the report as JSON, records as JSON Lines."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from headwater.model.items import ItemRecord
from headwater.pipeline.run.report import PipelineReport
from headwater.pipeline.sinks.sink import RunInfo


def as_json(value: object, indent: int | None = None) -> bytes:
    """UTF-8. A lone surrogate, which UTF-8 cannot encode, is written as a JSON escape."""
    return json.dumps(value, ensure_ascii=False, indent=indent).encode("utf-8", "backslashreplace")


class JsonFileSink:
    """Writes the report and replaces that of an earlier run atomically."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def record(self, report: PipelineReport) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_name(f"{self._path.name}.{report.run_id}.tmp")
        try:
            beside.write_bytes(as_json(report.to_dict(), indent=2) + b"\n")
            os.replace(beside, self._path)
        finally:
            beside.unlink(missing_ok=True)


class JsonlSink:
    """Appends records to a file, one line each."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._file: IO[bytes] | None = None

    def open(self, run: RunInfo) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("ab")
        self._run = run.run_id

    def write(self, records: Sequence[ItemRecord]) -> None:
        if self._file is None:
            raise ValueError("the sink is not open")
        self._file.write(b"".join(as_json({"run_id": self._run, **record.to_dict()}) + b"\n" for record in records))
        self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
