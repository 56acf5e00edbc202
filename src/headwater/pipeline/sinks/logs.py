"""Records and the report in the log, one line of JSON each."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence

from headwater.model.items import ItemRecord
from headwater.pipeline.run.report import PipelineReport
from headwater.pipeline.sinks.sink import RunInfo


class LoggingSink:
    def __init__(self, logger: logging.Logger | None = None, level: int = logging.INFO) -> None:
        self._logger = logger or logging.getLogger("headwater.pipeline")
        self._level = level

    def open(self, run: RunInfo) -> None:
        self._run = run.run_id

    def write(self, records: Sequence[ItemRecord]) -> None:
        if self._logger.isEnabledFor(self._level):  # avoids needless JSON
            for record in records:
                self._logger.log(self._level, "run %s item %s", self._run, json.dumps(record.to_dict()))

    def record(self, report: PipelineReport) -> None:
        self._logger.log(self._level, "run %s report %s", report.run_id, json.dumps(report.to_dict()))

    def close(self) -> None:
        pass
