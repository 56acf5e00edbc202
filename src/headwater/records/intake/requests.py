"""Reads requests: a request yields records, and refusals with the reason for each record that is not valid.

    {"root_id": …, "action_taken": …, "parent_id": …, "record": {"storage_location": …}}
    {"root_id": …, "action_taken": …, "records": [{"parent_ids": […], "storage_location": …}, …]}

A record takes each field that it does not have from its request. Shipped to executors by value, together with the
modules of headwater that it imports.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from headwater.formats.openlineage.text import UNSTORABLE_REASON, is_storable
from headwater.model.records import EPOCH, Record, Refusal

MAX_ID_LENGTH = 1_024
MAX_ACTION_LENGTH = 256
MAX_LOCATION_LENGTH = 8_192
MAX_PARENTS = 10_000
_EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
_SECONDS = (_EARLIEST - EPOCH).total_seconds(), (datetime(9999, 12, 31, tzinfo=UTC) - EPOCH).total_seconds()

NewId = Callable[[int], str]


class _Refused(Exception):
    """The message is the reason."""


def new_node_id(_position: int = 0) -> str:
    return os.urandom(10).hex()


def read_request(
    request: object, index: int, now: datetime, new_id: NewId = new_node_id
) -> tuple[list[tuple[int | None, Record]], list[Refusal]]:
    """The records of request number ``index``, each with its position in the request, and the refusals.

    ``now`` is the time of records without one; ``new_id`` generates the id of a record without one, by its position.
    """
    try:
        members, parts = _parts(request)
    except _Refused as refused:
        return [], [Refusal(index, None, str(refused))]
    accepted: list[tuple[int | None, Record]] = []
    refusals: list[Refusal] = []
    for position, own in parts:
        try:
            accepted.append((position, _record(own, members, now, new_id, position or 0)))
        except _Refused as refused:
            refusals.append(Refusal(index, position, str(refused)))
    return accepted, refusals


def read_record(document: object) -> Record:
    """A record from its document. ValueError if it is not one."""
    try:
        return _record(document, {}, EPOCH, _require_id, 0)
    except _Refused as refused:
        raise ValueError(str(refused)) from None


def _require_id(_position: int) -> str:
    raise _Refused("node_id is missing")


def _parts(request: object) -> tuple[Mapping[str, object], list[tuple[int | None, object]]]:
    """The request, and its records with their positions."""
    if not isinstance(request, Mapping):
        raise _Refused(f"a request is an object, not {_json_type(request)}")
    one, many = request.get("record"), request.get("records")
    if one is not None and many is not None:
        raise _Refused("it has both `record` and `records`")
    if many is not None:
        if not isinstance(many, list):
            raise _Refused(f"records is a list, not {_json_type(many)}")
        if not many:
            raise _Refused("records is empty")
        if request.get("node_id") is not None:
            raise _Refused("node_id names one record, and there are `records`: each has its own")
        return request, list(enumerate(many))
    if one is None and request.get("storage_location") is None:
        raise _Refused("it has neither `record` nor `records` nor a storage_location of its own")
    return request, [(None, {} if one is None else one)]


def _record(part: object, request: Mapping[str, object], now: datetime, new_id: NewId, position: int) -> Record:
    if not isinstance(part, Mapping):
        raise _Refused(f"a record is an object, not {_json_type(part)}")

    def value_of(field: str) -> object:
        value = part.get(field)
        return request.get(field) if value is None else value

    root_id = _text("root_id", value_of("root_id"), MAX_ID_LENGTH)
    has_parents = part.get("parent_id") is not None or part.get("parent_ids") is not None
    parent_ids = _parents(part if has_parents else request)
    action_taken = _text("action_taken", value_of("action_taken"), MAX_ACTION_LENGTH)
    storage_location = _text("storage_location", value_of("storage_location"), MAX_LOCATION_LENGTH)
    # A queued document has the exact time too: its seconds alone lack the fraction.
    time = value_of("recorded_at") if value_of("recorded_at") is not None else value_of("recordedAt")
    recorded_at = now if time is None else _time(time)
    own_id = value_of("node_id")
    node_id = new_id(position) if own_id is None else _text("node_id", own_id, MAX_ID_LENGTH)
    return Record(root_id, node_id, parent_ids, action_taken, storage_location, recorded_at)


def _parents(source: Mapping[str, object]) -> tuple[str, ...]:
    one, many = source.get("parent_id"), source.get("parent_ids")
    if many is None:
        return (_text("parent_id", one, MAX_ID_LENGTH),)
    if not isinstance(many, list | tuple):
        raise _Refused(f"parent_ids is a list, not {_json_type(many)}")
    if not 0 < len(many) <= MAX_PARENTS:
        raise _Refused(f"parent_ids has {len(many):,} entries; the limit is 1 to {MAX_PARENTS:,}")
    parents = tuple(
        dict.fromkeys(_text(f"parent_ids[{position}]", name, MAX_ID_LENGTH) for position, name in enumerate(many))
    )
    if one is not None and one not in parents:
        raise _Refused("parent_id is not among parent_ids")
    return parents


def _text(field: str, value: object, limit: int) -> str:
    if value is None:
        raise _Refused(f"{field} is missing")
    if not isinstance(value, str):
        raise _Refused(f"{field} is a string, not {_json_type(value)}")
    if not value:
        raise _Refused(f"{field} is empty")
    if len(value) > limit:
        raise _Refused(f"{field} has {len(value):,} characters; the limit is {limit:,}")
    if not is_storable(value):
        raise _Refused(f"{field} {UNSTORABLE_REASON}")
    return value


def _time(value: object) -> datetime:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _Refused(f"recordedAt is seconds since 1970 or an ISO 8601 time, not {_json_type(value)}")
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            moment = (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            raise _Refused("recordedAt cannot be read as a time in ISO 8601") from None
        seconds: float = (moment - EPOCH).total_seconds()
    else:
        if not _SECONDS[0] <= value <= _SECONDS[1]:  # false for NaN too
            raise _Refused("recordedAt lies outside the years 1900 to 9999; is it seconds?")
        seconds = value
        moment = EPOCH + timedelta(microseconds=round(value * 1_000_000))
    if not _SECONDS[0] <= seconds <= _SECONDS[1]:
        raise _Refused("recordedAt lies outside the years 1900 to 9999")
    return moment


def _json_type(value: object) -> str:
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "an object",
    }
    return "null" if value is None else names.get(type(value), f"a {type(value).__name__}")
