"""One OpenLineage event, read from bytes, text or a mapping.

The three kinds of events are recognised by their members, never by `schemaURL`. A document that is not an event is
refused, with the JSON path of the fault. Mere violations of the specification are listed in ``problems``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import NoReturn

from headwater.errors import EventRefused
from headwater.formats.openlineage.facets import facet_problems
from headwater.formats.openlineage.partitions import partition_names
from headwater.formats.openlineage.text import UNSTORABLE_REASON, is_storable, may_be_unstorable
from headwater.model.names import Dataset, Job
from headwater.model.runs import DatasetUse, Facets, Problem

RawEvent = bytes | bytearray | str | Mapping[str, object]

_EVENT_TYPES = frozenset({"START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"})
# An accepted event must be readable again at any depth of the stack.
_MAX_DEPTH = 200
MAX_ALIASES = 5_000
"""Maximum number of aliases (`symlinks`) in one event."""
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")


class EventKind(StrEnum):
    RUN = "run"
    JOB = "job"
    DATASET = "dataset"


Stamp = tuple[datetime, bytes]
"""A sort key that does not depend on the order in which events arrived."""


@dataclass(frozen=True)
class Event:
    kind: EventKind
    time: datetime
    body: bytes
    """As received, byte for byte; of a mapping, compact JSON."""
    digest: bytes
    """SHA-256 of the content: events that differ only in their formatting are one event."""
    problems: tuple[Problem, ...]
    event_type: str | None = None
    run_id: str | None = None
    run_facets: Facets | None = None
    job: Job | None = None
    job_facets: Facets | None = None
    inputs: tuple[DatasetUse, ...] = ()
    outputs: tuple[DatasetUse, ...] = ()
    dataset: DatasetUse | None = None

    @cached_property
    def stamp(self) -> Stamp:
        return self.time, self.digest

    @property
    def datasets(self) -> tuple[DatasetUse, ...]:
        static = (self.dataset,) if self.dataset is not None else ()
        return self.inputs + self.outputs + static


def read_event(raw: RawEvent) -> Event:
    """The event in ``raw``, or :class:`EventRefused`."""
    document, body = _decode(raw)
    # An event with fewer brackets cannot be deeper, and counting them is faster than descending.
    if body.count(b"{") + body.count(b"[") > _MAX_DEPTH and is_deeper(document, _MAX_DEPTH):
        raise EventRefused("$", f"nested more than {_MAX_DEPTH} levels deep")
    event = _EventReader(document, body).event()
    _refuse_too_many_aliases(event)
    return event


def _refuse_too_many_aliases(event: Event) -> None:
    """Each alias is looked up on its own while the writer's lock is held: no other part of an event takes as much
    time."""
    facets = (use.facets["symlinks"] for use in event.datasets if "symlinks" in use.facets)
    identifiers = (facet.get("identifiers") for facet in facets if isinstance(facet, Mapping))
    count = sum(len(listed) for listed in identifiers if isinstance(listed, list))
    if count > MAX_ALIASES:
        raise EventRefused("$", f"{count:,} aliases of datasets (symlinks); one event has at most {MAX_ALIASES:,}")


def encode_event(raw: RawEvent) -> bytes:
    """The bytes of ``raw`` as a server accepts them. Raises :class:`EventRefused` if it is not a JSON object."""
    return _decode(raw)[1]


def reread_event(body: bytes, digest: bytes, problems: Iterable[tuple[str, str]] = ()) -> Event:
    """An event that was accepted before: its checks and its digest are not repeated."""
    document, body = _decode(body)
    event = _EventReader(document, body, check_facets=False).event(digest)
    return replace(event, problems=tuple(Problem(path, reason) for path, reason in problems))


def _decode(raw: RawEvent) -> tuple[Mapping[str, object], bytes]:
    try:
        if isinstance(raw, Mapping):
            body = json.dumps(raw, separators=(",", ":"), allow_nan=False).encode()
            document: object = json.loads(body)
        else:
            body = raw.encode() if isinstance(raw, str) else bytes(raw)
            document = json.loads(body.decode("utf-8-sig"), parse_constant=refuse_constant)
    except UnicodeDecodeError as error:
        raise EventRefused("$", f"not UTF-8 ({error.reason} at byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise EventRefused("$", f"not JSON ({error})") from None
    except RecursionError:
        raise EventRefused("$", "nested too deeply to read") from None
    except (TypeError, ValueError) as error:
        raise EventRefused("$", f"not JSON ({error})") from None
    if not isinstance(document, Mapping):
        raise EventRefused("$", f"an event is a JSON object, not {_json_type(document)}")
    return document, body


def is_deeper(value: object, levels: int) -> bool:
    containers: list[dict[str, object] | list[object]] = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        inner = (
            item
            for container in containers
            for item in (container.values() if isinstance(container, dict) else container)
        )
        containers = [item for item in inner if isinstance(item, dict | list)]
        if not containers:
            return False
    return True


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


class _EventReader:
    """Reads one decoded document and collects its problems."""

    def __init__(self, document: Mapping[str, object], body: bytes, check_facets: bool = True) -> None:
        self._document = document
        self._body = body
        self._check_text = may_be_unstorable(body)
        self._check_facets = check_facets
        self._problems: list[Problem] = []

    def event(self, digest: bytes | None = None) -> Event:
        document = self._document
        kind = self._kind()
        time = self._time()
        self._text(document, "$", "producer")
        if not isinstance(document.get("schemaURL"), str):
            self._problem("$.schemaURL", "missing")
        dataset: DatasetUse | None = None
        job: tuple[Job, Facets] | tuple[None, None] = None, None
        run: tuple[str, Facets] | tuple[None, None] = None, None
        inputs: tuple[DatasetUse, ...] = ()
        outputs: tuple[DatasetUse, ...] = ()
        event_type: str | None = None
        if kind is EventKind.DATASET:
            dataset = self._use(document["dataset"], "$.dataset", None)
        else:
            job = self._job()
            inputs = self._uses("inputs", "inputFacets")
            outputs = self._uses("outputs", "outputFacets")
        if kind is EventKind.RUN:
            run = self._run()
            event_type = self._event_type()
        return Event(
            kind=kind,
            time=time,
            body=self._body,
            digest=digest or _content_digest(document),
            problems=tuple(self._problems),
            event_type=event_type,
            run_id=run[0],
            run_facets=run[1],
            job=job[0],
            job_facets=job[1],
            inputs=inputs,
            outputs=outputs,
            dataset=dataset,
        )

    def _kind(self) -> EventKind:
        for key, kind in (("run", EventKind.RUN), ("job", EventKind.JOB), ("dataset", EventKind.DATASET)):
            if self._document.get(key) is not None:
                return kind
        raise EventRefused("$", "neither a run, a job nor a dataset: one of these keys is needed")

    def _time(self) -> datetime:
        text = self._text(self._document, "$", "eventTime")
        moment = parse_time(text)
        if moment is None:
            raise EventRefused("$.eventTime", f"not an ISO 8601 time: {text[:40]!r}")
        if moment.tzinfo is None:
            self._problem("$.eventTime", "no time zone; read as UTC")
        return as_utc(moment)

    def _event_type(self) -> str | None:
        value = self._document.get("eventType")
        if value is None:
            return None
        if not isinstance(value, str) or value not in _EVENT_TYPES:
            raise EventRefused("$.eventType", f"must be one of {', '.join(sorted(_EVENT_TYPES))}")
        return value

    def _run(self) -> tuple[str, Facets]:
        run = self._object(self._document["run"], "$.run")
        run_id = self._name(run, "$.run", "runId")
        if not run_id:
            raise EventRefused("$.run.runId", "empty")
        if not _UUID.match(run_id):
            self._problem("$.run.runId", "not a UUID")
        return run_id, self._facets(run, "$.run", "facets", "run")

    def _job(self) -> tuple[Job, Facets]:
        job = self._object(self._document.get("job"), "$.job")
        named = Job(self._name(job, "$.job", "namespace"), self._name(job, "$.job", "name"))
        return named, self._facets(job, "$.job", "facets", "job")

    def _uses(self, key: str, io_key: str) -> tuple[DatasetUse, ...]:
        uses = self._document.get(key)
        if uses is None:
            return ()
        if not isinstance(uses, list):
            raise EventRefused(f"$.{key}", f"must be an array, not {_json_type(uses)}")
        return tuple(self._use(use, f"$.{key}[{index}]", io_key) for index, use in enumerate(uses))

    def _use(self, value: object, path: str, io_key: str | None) -> DatasetUse:
        document = self._object(value, path)
        dataset = Dataset(self._name(document, path, "namespace"), self._name(document, path, "name"))
        facets = self._facets(document, path, "facets", "dataset")
        io_facets = self._facets(document, path, io_key, io_key) if io_key else {}
        return DatasetUse(dataset, facets, io_facets, self._partitions(io_facets, path))

    def _partitions(self, io_facets: Facets, path: str) -> tuple[str, ...]:
        names = partition_names(io_facets)
        for name in names:
            self._storable(name, f"{path} (partition)")
        return names

    def _facets(self, owner: Mapping[str, object], path: str, key: str, owner_kind: str) -> Facets:
        stated = owner.get(key)
        if stated is None:
            return {}
        path = f"{path}.{key}"
        facets = self._object(stated, path)
        for name in facets:
            self._storable(name, path)
        if self._check_facets:
            self._problems += facet_problems(owner_kind, facets, path, check_text=self._check_text)
        return facets

    def _name(self, owner: Mapping[str, object], path: str, key: str) -> str:
        text = self._text(owner, path, key)
        self._storable(text, f"{path}.{key}")
        return text

    def _text(self, owner: Mapping[str, object], path: str, key: str) -> str:
        value = owner.get(key)
        if value is None:
            raise EventRefused(f"{path}.{key}", "missing")
        if not isinstance(value, str):
            raise EventRefused(f"{path}.{key}", f"must be a string, not {_json_type(value)}")
        return value

    def _storable(self, text: str, path: str) -> None:
        if self._check_text and not is_storable(text):
            raise EventRefused(path, UNSTORABLE_REASON)

    @staticmethod
    def _object(value: object, path: str) -> dict[str, object]:
        if value is None:
            raise EventRefused(path, "missing")
        if not isinstance(value, dict):
            raise EventRefused(path, f"must be an object, not {_json_type(value)}")
        return value

    def _problem(self, path: str, reason: str) -> None:
        self._problems.append(Problem(path, reason))


def parse_time(text: object) -> datetime | None:
    """An ISO 8601 time, with or without a zone; None if it is not one."""
    if not isinstance(text, str):
        return None
    try:
        # Java's ZonedDateTime adds its zone's name after the offset: 2026-11-15T10:00:00+01:00[Europe/Paris]
        moment = datetime.fromisoformat(text.split("[", 1)[0])
        as_utc(moment)
    except (ValueError, OverflowError):
        return None
    return moment


def as_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def _content_digest(document: Mapping[str, object]) -> bytes:
    try:
        text = _canonical(document)
    except ValueError:  # 1e999 is JSON, but not a number that can be written again
        raise EventRefused("$", "contains a number that is too large to store") from None
    return hashlib.sha256(text.encode()).digest()


def _json_type(value: object) -> str:
    if isinstance(value, bool):
        return "a boolean"
    names = {dict: "an object", list: "an array", str: "a string", int: "a number", float: "a number"}
    return names.get(type(value), "null")
