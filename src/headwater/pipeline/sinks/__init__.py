"""Where the records of items and the report of a run go."""

from headwater.pipeline.sinks.events import OpenLineageSink, StoreSink
from headwater.pipeline.sinks.files import JsonFileSink, JsonlSink
from headwater.pipeline.sinks.folders import JsonlFolderSink, ParquetSink
from headwater.pipeline.sinks.logs import LoggingSink
from headwater.pipeline.sinks.sink import FrameSink, ItemSink, PipelineSink, RunInfo, Sink
from headwater.pipeline.sinks.sink_group import SinkGroup

__all__ = [
    "FrameSink",
    "ItemSink",
    "JsonFileSink",
    "JsonlFolderSink",
    "JsonlSink",
    "LoggingSink",
    "OpenLineageSink",
    "ParquetSink",
    "PipelineSink",
    "RunInfo",
    "Sink",
    "SinkGroup",
    "StoreSink",
]
