"""Enables and disables the capture of a Spark session.

The capture belongs to the Spark application: sessions that share a SparkContext share it, also sessions that Spark
creates itself (a streaming query runs in a session of its own).
"""

from __future__ import annotations

import logging
from threading import Lock
from typing import TYPE_CHECKING

from headwater.capture.listener.application import Capture, CaptureSettings
from headwater.errors import HeadwaterError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log = logging.getLogger("headwater")
_captures: dict[int, Capture] = {}
_lock = Lock()


def enable(spark: SparkSession, settings: CaptureSettings, version: str) -> Capture | None:
    """Start to capture; if that fails, the error is logged and the session goes on without capture."""
    refuse_connect(spark)
    with _lock:
        for capture in _captures.values():
            capture.supersede()
        previous = _captures.get(id(spark.sparkContext))
        if previous is not None and not previous.ended:
            previous.end(None, previous.patience)
        try:
            capture = Capture(spark, settings, version)
            capture.begin()
        except HeadwaterError:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            _log.warning("Lineage is not captured in this session; the job is not affected. %s", what[:500])
            _log.debug("While switching the capture on", exc_info=True)
            return None
        _captures[id(spark.sparkContext)] = capture
        return capture


def disable(spark: SparkSession | None, seconds: float | None = None) -> None:
    with _lock:
        chosen = [key for key, capture in _captures.items() if spark is None or capture.context is spark.sparkContext]
        ended = [_captures.pop(key) for key in chosen]
    for capture in ended:
        capture.end(None, capture.patience if seconds is None else seconds)


def flush(seconds: float) -> bool:
    done = [capture.flush(seconds) for capture in active()]
    return all(done)


def active() -> list[Capture]:
    with _lock:
        return [capture for capture in _captures.values() if not capture.ended]


def is_captured(spark: object) -> bool:
    context = getattr(spark, "_sc", None)
    return any(capture.context is context for capture in active())


def refuse_connect(spark: object) -> None:
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise HeadwaterError(
            "A Spark Connect client does not see the plans of its writes, so nothing is captured here. Use a classic "
            "session (SparkSession.builder.master(…) without remote(…)), or enable Headwater where the server runs."
        )
