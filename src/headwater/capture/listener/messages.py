"""The messages of the listener in Spark, and those that Headwater itself posts among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from headwater.jvm import JavaObject

ExecutionId = int | str
"""An execution with several commands has an id for each, such as `7/0`."""


class Message(TypedDict, total=False):
    """One message, by its ``kind`` (jvm/ListenerQueue.java). Times are milliseconds since 1970."""

    kind: str
    time: int
    # "start" and "end" of an execution
    id: ExecutionId
    root: ExecutionId | None
    tags: list[str] | None
    settings: Mapping[str, str] | None
    session: str | None
    stream: str
    readsBefore: bool
    checkpoint: bool
    failure: str | None
    trace: list[str] | None
    recordsWritten: list[int | None] | None
    # "dropped"
    database: str
    table: str
    # events of streaming queries
    runId: str
    name: str | None
    progress: str
    # Headwater's own
    run: str
    stack: str | None
    token: str


@dataclass
class ListenerMessage:
    fields: Message
    execution: JavaObject | None
    """The command that Spark ran (jvm/ExecutedCommand.java), for a message about one."""
