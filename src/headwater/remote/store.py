"""The store that :func:`headwater.connect` returns for the address of a server: it is queried over HTTP."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self, TypeVar

from headwater.errors import NotOffered, RequestRefused
from headwater.formats.openlineage.event import Event, RawEvent, encode_event
from headwater.formats.provenance import provenance_event
from headwater.formats.provenance_methods import ProvenanceMethods, StatedProvenance
from headwater.formats.query_checks import provenance_event_of, refuse_unaskable, refuse_unaskable_part, state_of
from headwater.formats.wia.quality import quality_event
from headwater.model.answers import Closure, DatasetDetail, DatasetSummary, Impact, Receipt, RunDetail, RunDiff
from headwater.model.audit import Actor, AuditEntry
from headwater.model.certificates import Certificate
from headwater.model.log import ConsistencyProof, InclusionProof, LogKey, SignedCheckpoint, Verified, VerifiedRun
from headwater.model.names import Dataset, Endpoint
from headwater.model.provenance import ProvenanceEvent
from headwater.model.quality import QualityStatement
from headwater.model.runs import OutputFacet, Run, RunState
from headwater.model.tasks import Task, TaskState
from headwater.remote.client import DEFAULT_TIMEOUT, MOST_AT_ONCE, Client, Parameter, Parameters, segment
from headwater.remote.decoding import decode, decode_all, decode_closure, decode_diff, decode_list, decode_part
from headwater.remote.pages import RemotePages, endpoint_named, named, run_filters
from headwater.remote.problems import error_of

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.proof.history import KeyPeriod

DatasetName = str | Endpoint
Answer = TypeVar("Answer")
_MOST_DEPTH = 100_000
"""The largest depth that the server accepts."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_POLL_SECONDS, _LONGEST_POLL = 0.1, 2.0


def _not_offered(method: str) -> Callable[..., NoReturn]:
    def refuse(self: RemoteStore, *args: object, **options: object) -> NoReturn:
        raise NotOffered(f"lin.{method}")

    refuse.__name__ = method
    refuse.__doc__ = "Not offered over HTTP: raises :class:`~headwater.errors.NotOffered`."
    return refuse


class RemoteStore(ProvenanceMethods):
    """The methods of :class:`~headwater.client.Lineage` over HTTP, with the same types, order and errors.

    An answer that is longer than a page of the server takes several requests, and the later ones may show what others
    wrote meanwhile. A method that the server has no route for raises :class:`~headwater.errors.NotOffered`.
    """

    def __init__(self, url: str, *, api_key: str | None = None, timeout: float = DEFAULT_TIMEOUT) -> None:
        """``timeout``: the seconds without an answer after which a request fails."""
        self._client = Client(url, api_key or os.environ.get("HEADWATER_API_KEY"), timeout=timeout)

    @property
    def pages(self) -> RemotePages:
        """Lists that are read page by page."""
        return RemotePages(self._client)

    @property
    def file(self) -> Path | None:
        """None: the store is on the server."""
        return None

    @property
    def is_in_memory(self) -> bool:
        return False

    # -- events in --------------------------------------------------------------------------------

    def ingest(self, event: RawEvent, *, actor: Actor | None = None) -> Receipt:
        """Ingest one OpenLineage event. When this returns, the event is on disk, folded and audited."""
        _refuse_actor(actor)
        return self._read(Receipt, self._client.post("/lineage", encode_event(event)))

    def ingest_many(self, events: Iterable[RawEvent], *, actor: Actor | None = None) -> list[Receipt]:
        """Ingest several events in one transaction: all of them or, if one is refused, none."""
        _refuse_actor(actor)
        return self._take([encode_event(event) for event in events])

    def take(self, events: Sequence[Event], *, actor: Actor | None = None) -> list[Receipt]:
        """Ingest several events that were already read, in one transaction."""
        _refuse_actor(actor)
        return self._take([event.body for event in events])

    def _take(self, bodies: Sequence[bytes]) -> list[Receipt]:
        if not bodies:
            return []
        body = b"[" + b",".join(event.removeprefix(_BYTE_ORDER_MARK) for event in bodies) + b"]"
        receipts = self._client.post("/lineage/batch", body, {"atomic": True})
        return list(self._client.read(decode_all, Receipt, receipts, "$"))

    # -- the graph --------------------------------------------------------------------------------

    def upstream(
        self,
        dataset: DatasetName,
        column: str | None = None,
        partition: str | None = None,
        depth: int | None = None,
        as_of: datetime | None = None,
    ) -> Closure:
        """Everything that it was made from, nearest first."""
        return self._closure("/lineage/upstream", dataset, column, partition, depth, as_of)

    def downstream(
        self,
        dataset: DatasetName,
        column: str | None = None,
        partition: str | None = None,
        depth: int | None = None,
        as_of: datetime | None = None,
    ) -> Closure:
        """Everything that was made from it, nearest first."""
        return self._closure("/lineage/downstream", dataset, column, partition, depth, as_of)

    def impact(
        self,
        dataset: DatasetName,
        column: str | None = None,
        depth: int | None = None,
        as_of: datetime | None = None,
    ) -> Impact:
        """What a change of it affects: datasets with the affected columns, their jobs, owner and latest run."""
        head, affected = self._whole("/lineage/impact", "affected", dataset, column, None, depth, as_of, {})
        return self._read(Impact, {**head, "affected": affected})

    def _closure(
        self,
        path: str,
        dataset: DatasetName,
        column: str | None,
        partition: str | None,
        depth: int | None,
        as_of: datetime | None,
    ) -> Closure:
        head, nodes = self._whole(path, "nodes", dataset, column, partition, depth, as_of, {"parents": True})
        return self._client.read(decode_closure, head, nodes)

    def _whole(
        self,
        path: str,
        part: str,
        dataset: DatasetName,
        column: str | None,
        partition: str | None,
        depth: int | None,
        as_of: datetime | None,
        more: Parameters,
    ) -> tuple[dict[str, object], list[object]]:
        """An answer whose list ``part`` has pages: its other members from the first page, and the complete list."""
        if (column is not None and partition is not None) or (depth is not None and depth < 1):
            self.dataset(dataset)  # a local store first says that it does not know the dataset
            refuse_unaskable_part(column, partition, depth)
        parameters: dict[str, Parameter] = {
            **endpoint_named(dataset),
            "column": column,
            "partition": partition,
            "depth": None if depth is None else min(depth, _MOST_DEPTH),
            "as_of": as_of,
            "limit": MOST_AT_ONCE,
            **more,
        }
        head, values, cursor = self._client.read(decode_part, self._client.get(path, parameters), part)
        while cursor is not None:
            page = self._client.get(path, {**parameters, "cursor": cursor})
            _, items, cursor = self._client.read(decode_part, page, part)
            values += items
        return head, values

    # -- datasets and runs ------------------------------------------------------------------------

    def datasets(
        self,
        search: str | None = None,
        *,
        namespace: str | None = None,
        kind: str | None = None,
        owner: str | None = None,
        tag: str | None = None,
        limit: int = 100,
    ) -> list[DatasetSummary]:
        refuse_unaskable(search, namespace, kind, owner, tag, limit)
        filters = {"search": search, "namespace": namespace, "kind": kind, "owner": owner, "tag": tag}
        return self._client.items("/datasets", filters, DatasetSummary, limit)[0]

    def dataset(self, dataset: DatasetName) -> DatasetDetail:
        return self._read(DatasetDetail, self._client.get("/datasets/named", endpoint_named(dataset)))

    def runs(
        self,
        *,
        job: str | None = None,
        namespace: str | None = None,
        state: RunState | str | None = None,
        dataset: DatasetName | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 100,
    ) -> list[Run]:
        """The newest first. ``dataset`` finds the runs that read or wrote it."""
        refuse_unaskable(job, namespace, limit)
        filters = run_filters(job, namespace, state_of(state), dataset, since, until)
        return self._client.items("/runs", filters, Run, limit)[0]

    def run(self, run_id: str) -> RunDetail:
        return self._read(RunDetail, self._client.get(f"/runs/{segment(run_id)}"))

    def diff(self, run_a: str, run_b: str) -> RunDiff:
        """The differences of ``run_b`` from ``run_a``."""
        answer = self._client.get(f"/runs/{segment(run_a)}/diff/{segment(run_b)}")
        return self._client.read(decode_diff, answer)

    def output_facets(
        self, facet: str, *, dataset: DatasetName | None = None, run_id: str | None = None, limit: int = 100
    ) -> list[OutputFacet]:
        """One facet of the datasets that completed runs wrote, newest first."""
        refuse_unaskable(facet, limit)
        about = {} if dataset is None else named(dataset)
        return self._list("/output-facets", {"facet": facet, "run": run_id, **about}, OutputFacet, limit)

    # -- quality ----------------------------------------------------------------------------------

    def quality(self, dataset: DatasetName, *, limit: int = 100) -> list[QualityStatement]:
        """The quality of a dataset, measured, stated or imported: the newest first."""
        refuse_unaskable(limit)
        return self._list(f"{self.pages.address(dataset)}/quality", {}, QualityStatement, limit)

    def set_quality(
        self, dataset: DatasetName, document: Mapping[str, object], *, actor: Actor | None = None
    ) -> Receipt:
        """State the quality of a dataset by hand: a document of WIA-DATA-008, section 4, whose ids may be left out."""
        _refuse_actor(actor)
        canonical = self.dataset(dataset).summary.dataset
        encode_event(
            quality_event(canonical, dict(document), datetime.now(UTC))
        )  # refuses the same documents as a local store
        path = f"{self.pages.address(canonical)}/quality"
        return self._read(Receipt, self._client.post(path, encode_event(document)))

    # -- provenance -------------------------------------------------------------------------------

    @property
    def _provenance_pages(self) -> RemotePages:
        return self.pages

    def _state(self, dataset: DatasetName, statement: StatedProvenance, actor: Actor | None) -> Receipt:
        _refuse_actor(actor)
        context = statement.context_document()
        kind = provenance_event_of(statement.event)
        assert kind is not None
        canonical = self.dataset(dataset).summary.dataset
        _refuse_statement(canonical, kind, statement.agent, statement.operation, context)
        document = {
            "event": kind,
            "agent": None if statement.agent is None else dict(statement.agent),
            "operation": None if statement.operation is None else dict(statement.operation),
            **statement.context,
            "at": None if statement.at is None else statement.at.isoformat(),
        }
        body = json.dumps(document, allow_nan=False).encode()
        return self._read(Receipt, self._client.post(f"{self.pages.address(canonical)}/provenance", body))

    # -- proof ------------------------------------------------------------------------------------

    def audit(
        self,
        *,
        event_type: str | None = None,
        actor: str | None = None,
        resource: str | None = None,
        correlation_id: str | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> list[AuditEntry]:
        """The newest entries first. ``before``: only entries with a lower number."""
        refuse_unaskable(event_type, actor, resource, correlation_id, before, limit)
        about = {"event_type": event_type, "actor": actor, "resource": resource, "correlation_id": correlation_id}
        return self._client.items("/audit", {**about, "before": before}, AuditEntry, limit)[0]

    def certificates(
        self, *, namespace: str | None = None, run_id: str | None = None, limit: int = 100
    ) -> list[Certificate]:
        """The newest first."""
        refuse_unaskable(namespace, run_id, limit)
        return self._list("/certificates", {"namespace": namespace, "run": run_id}, Certificate, limit)

    def checkpoints(self, *, before: int | None = None, limit: int = 100) -> list[SignedCheckpoint]:
        """The newest first. ``before``: only checkpoints of a smaller size."""
        refuse_unaskable(before, limit)
        return self._client.items("/log/checkpoints", {"before": before}, SignedCheckpoint, limit)[0]

    def signing_keys(self) -> list[KeyPeriod]:
        """The keys that signed this log, in order, each with the first entry that it signs for."""
        from headwater.proof.history import KeyPeriod
        from headwater.proof.notes import Verifier

        keys = self._client.read(decode_list, LogKey, self._client.get("/log/keys"))
        return [KeyPeriod(key.from_entry, Verifier.parse(key.key)) for key in keys]

    def inclusion(self, seq: int, size: int | None = None) -> InclusionProof:
        """Proof that an entry is in the log of ``size`` entries, by default all."""
        refuse_unaskable(seq, size)
        return self._read(InclusionProof, self._client.get("/log/proof", {"seq": seq, "size": size}))

    def consistency(self, old: int, new: int | None = None) -> ConsistencyProof:
        """Proof that the log of ``new`` entries, by default all, extends the log of ``old`` entries."""
        refuse_unaskable(old, new)
        return self._read(ConsistencyProof, self._client.get("/log/consistency", {"old": old, "new": new}))

    def verify(
        self,
        *,
        key: str | None = None,
        anchored: Sequence[tuple[str, str]] | None = None,
        events: bool = True,
        graph: bool = True,
        records: bool = True,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Verified:
        """Verify the whole store, as a task of the server. Raises an error for the first failure.

        ``key`` and ``anchored`` are not offered over HTTP: they are for a verifier who does not trust the server.
        ``progress`` receives the current part, the work done and its total.
        """
        _refuse_trust("lin.verify", key, anchored)
        parts = {"events": events, "graph": graph, "records": records}
        task = self._read(Task, self._client.post("/log/verify", None, parts))
        try:
            ended = self._ended(task, progress)
        except BaseException:
            self._client.delete(f"/tasks/{segment(task.id)}")
            raise
        if ended.state is TaskState.FAILED:
            raise error_of(ended.problem or {}, 0)
        if ended.state is not TaskState.SUCCEEDED or not isinstance(ended.result, dict):
            raise RequestRefused(0, None, f"the task ended as {ended.state}.")
        return self._read(Verified, {name: value for name, value in ended.result.items() if name != "holds"})

    def _ended(self, task: Task, progress: Callable[[str, int, int], None] | None) -> Task:
        wait = _POLL_SECONDS
        while True:
            if progress is not None and task.progress is not None:
                text, done, total = task.progress.text, task.progress.done, task.progress.total
                progress(text.removeprefix(f"{done:,} of {total:,} "), done, total)
            if task.state is not TaskState.RUNNING:
                return task
            time.sleep(wait)
            wait = min(1.5 * wait, _LONGEST_POLL)
            task = self._read(Task, self._client.get(f"/tasks/{segment(task.id)}"))

    def verify_run(
        self, run_id: str, *, key: str | None = None, anchored: Sequence[tuple[str, str]] | None = None
    ) -> VerifiedRun:
        """Verify one run on the server: its events, its certificates and their log entries."""
        _refuse_trust("lin.verify_run", key, anchored)
        return self._read(VerifiedRun, self._client.get(f"/runs/{segment(run_id)}/verified"))

    def bundle(self, run_id: str) -> bytes:
        """The evidence of a run as one file, which `headwater verify FILE` verifies without the store or the server."""
        return self._client.get_bytes(f"/runs/{segment(run_id)}/bundle")

    # -- methods that need the database itself ----------------------------------------------------

    visible_to = _not_offered("visible_to")
    change_max_direct_edges = _not_offered("change_max_direct_edges")
    take_stream = _not_offered("take_stream")
    submission = _not_offered("submission")
    store_all = _not_offered("store_all")
    trusted_capture_keys = _not_offered("trusted_capture_keys")
    provenance_event = _not_offered("provenance_event")
    issue_certificate = _not_offered("issue_certificate")
    checkpoint = _not_offered("checkpoint")
    rotate_key = _not_offered("rotate_key")
    verify_certificate = _not_offered("verify_certificate")
    export = _not_offered("export")
    import_ = _not_offered("import_")
    records = property(_not_offered("records"))
    graphs = property(_not_offered("graphs"))
    access = property(_not_offered("access"))
    sessions = property(_not_offered("sessions"))
    capture_keys = property(_not_offered("capture_keys"))
    deeds = property(_not_offered("deeds"))

    # -- ------------------------------------------------------------------------------------------

    def _read(self, kind: type[Answer], answer: object) -> Answer:
        return self._client.read(decode, kind, answer)

    def _list(self, path: str, parameters: Parameters, kind: type[Answer], limit: int) -> list[Answer]:
        """A list for which the server has no cursors."""
        if limit > MOST_AT_ONCE:
            raise NotOffered(f"A list of more than {MOST_AT_ONCE:,} items")
        answer = self._client.get(path, {**parameters, "limit": max(limit, 1)})
        return list(self._client.read(decode_list, kind, answer))[:limit]

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<RemoteStore {self._client.url}>"


def open_server(
    url: str, *, api_key: str | None = None, create: bool = True, timeout: float | None = None, **options: object
) -> RemoteStore:
    """The store behind the address of a server. ``create`` and options of None have no effect."""
    for name, value in options.items():
        if value is not None:
            raise NotOffered(f"The option {name} of a database")
    return RemoteStore(url, api_key=api_key, timeout=DEFAULT_TIMEOUT if timeout is None else timeout)


def _refuse_actor(actor: Actor | None) -> None:
    if actor is not None:
        raise NotOffered("Writing as an actor other than the holder of the key")


def _refuse_trust(method: str, key: str | None, anchored: Sequence[tuple[str, str]] | None) -> None:
    if key is not None or anchored is not None:
        raise NotOffered(f"{method} with a key or anchored checkpoints")


def _refuse_statement(
    dataset: Dataset,
    kind: ProvenanceEvent,
    agent: Mapping[str, object] | None,
    operation: Mapping[str, object] | None,
    context: Mapping[str, object],
) -> None:
    """Refuse a statement with the error of a local store: the server's error would name fields of the request."""
    stated_operation = {name: value for name, value in (operation or {}).items() if value is not None}
    stated_agent = {name: value for name, value in (agent or {}).items() if value is not None}
    document: dict[str, object] = {
        "event_type": kind,
        "agent": stated_agent or {"type": "service", "id": "client"},
        "operation": {"type": "read"} | stated_operation,
    }
    if context:
        document["context"] = dict(context)
    provenance_event(dataset, document, datetime.now(UTC))
