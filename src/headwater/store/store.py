"""The store: what :func:`headwater.connect` returns."""

from __future__ import annotations

import getpass
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from copy import copy
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection

from headwater.formats.openlineage.event import Event, RawEvent, as_utc, read_event
from headwater.formats.openlineage.flows import prepare_flows
from headwater.formats.provenance import provenance_event
from headwater.formats.provenance_methods import ProvenanceMethods, StatedProvenance
from headwater.formats.query_checks import provenance_event_of, refuse_unaskable, state_of
from headwater.formats.wia.quality import quality_event
from headwater.model.answers import (
    Closure,
    DatasetDetail,
    DatasetSummary,
    Direction,
    Impact,
    Receipt,
    RunDetail,
    RunDiff,
)
from headwater.model.audit import Actor
from headwater.model.names import Dataset, Endpoint
from headwater.model.provenance import ProvenanceEvent
from headwater.model.quality import QualityStatement
from headwater.model.runs import OutputFacet, Run, RunState
from headwater.store.access.capture_keys import CaptureKeys, trusted_keys
from headwater.store.access.keys import AccessKeys
from headwater.store.access.sessions import Sessions
from headwater.store.access.view import View
from headwater.store.access.visibility import EVERYTHING, Visibility
from headwater.store.access.visible_writes import refuse_hidden, refuse_hidden_runs
from headwater.store.engine.database import DEFAULT_URL, Database
from headwater.store.exchange.graphs import Graphs
from headwater.store.fold.edge_limits import (
    DirectEdgesLimit,
    change_max_direct_edges,
    settle_max_direct_edges,
)
from headwater.store.fold.ingest import ingest_events
from headwater.store.fold.memory import Memory
from headwater.store.fold.shared_commits import SharedCommits, Submission
from headwater.store.log.audit_writer import Deeds
from headwater.store.proofs import StoreProofs
from headwater.store.query import catalog, outputs, quality, runs
from headwater.store.query.closure import Question, closure
from headwater.store.query.impact import impact
from headwater.store.query.lookup import find_dataset
from headwater.store.query.pages import Pages
from headwater.store.query.provenance.stated import default_operation
from headwater.store.query.questions import question
from headwater.store.schema.upgrade import ensure_current

DatasetName = str | Endpoint
"""`name` where it is unique, `namespace/name`, or a :class:`~headwater.model.names.Dataset`."""


class Store(StoreProofs, ProvenanceMethods):
    """Lineage in a database. Safe to share between threads; any number of processes may open the same one."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        create: bool = True,
        actor: Actor | None = None,
        max_direct_edges: int | None = None,
    ) -> None:
        """``max_direct_edges``: maximum number of edges, inputs by outputs, of a run or declaration that does not state
        which input went into which output; above it, the graph has input → job → output. It is kept in the store: a
        new store gets this one, else `HEADWATER_MAX_DIRECT_EDGES`, else 10,000; a store with events is refused where it
        has another."""
        self._database = Database(url, create=create)
        self._actor = actor or Actor(_user())
        self._commits = SharedCommits(self._commit)
        self._memory = Memory()
        self._visibility = EVERYTHING
        try:
            ensure_current(self._database, create=create)
            settle_max_direct_edges(self._database, self._actor, max_direct_edges)
        except BaseException:
            self._database.close()
            raise

    def visible_to(self, visibility: Visibility) -> Store:
        """The same store, limited to some namespaces: what is hidden does not exist in it.

        Such a store also refuses events that name anything hidden.
        """
        limited = copy(self)
        limited._visibility = visibility
        return limited

    @property
    def pages(self) -> Pages:
        """What can be looked through page by page."""
        return Pages(self._database, self._visibility)

    @property
    def graphs(self) -> Graphs:
        """Lineage as whole graphs, to be written to files."""
        return Graphs(self._database, self._visibility)

    @property
    def access(self) -> AccessKeys:
        """The keys with which others come in over HTTP."""
        self._refuse_parts()
        return AccessKeys(self._database, self._actor)

    @property
    def sessions(self) -> Sessions:
        """What browsers were given for such a key."""
        self._refuse_parts()
        return Sessions(self._database)

    @property
    def capture_keys(self) -> CaptureKeys:
        """The capture keys that are trusted: only plans that one of them signed are deserialized."""
        self._refuse_parts()
        return CaptureKeys(self._database, self._actor)

    @property
    def file(self) -> Path | None:
        """The file of an embedded store; None for a store in memory or on a database server."""
        return self._database.file

    @property
    def is_in_memory(self) -> bool:
        return self._database.is_in_memory

    @property
    def deeds(self) -> Deeds:
        """For the audit log: what leaves no other trace."""
        self._refuse_parts()
        return Deeds(self._database)

    # -- events in --------------------------------------------------------------------------------

    def ingest(self, event: RawEvent, *, actor: Actor | None = None) -> Receipt:
        """Take one OpenLineage event in. When this returns, the event is on disk, folded and audited."""
        return self.ingest_many([event], actor=actor)[0]

    def ingest_many(self, events: Iterable[RawEvent], *, actor: Actor | None = None) -> list[Receipt]:
        """Take several events in as one transaction: all of them or, if one is refused, none."""
        return self.take([read_event(event) for event in events], actor=actor)

    def take(self, events: Sequence[Event], *, actor: Actor | None = None) -> list[Receipt]:
        """The same for events that were read already."""
        return self._commits.store(self.submission(events, actor=actor)) if events else []

    def take_stream(self, portions: Iterable[Sequence[RawEvent]], *, actor: Actor | None = None) -> tuple[int, int]:
        """Take more events in than memory holds, portion by portion.

        Returns how many were new, and how many the store had already. Each portion is one transaction, so other writers
        wait for one portion at most. After an interruption, take the same events in again: those that are stored do not
        count twice.
        """
        new = duplicates = 0
        for portion in portions:
            known = sum(receipt.duplicate for receipt in self.ingest_many(portion, actor=actor))
            new, duplicates = new + len(portion) - known, duplicates + known
        return new, duplicates

    def submission(self, events: Sequence[Event], *, actor: Actor | None = None) -> Submission:
        """Events that can be taken, to be stored by :meth:`store_all` together with those of others."""
        by = actor or self._actor
        refuse_unaskable(by.id, by.type, by.correlation_id, by.client_ip, by.user_agent)
        if not self._visibility.is_everything:
            refuse_hidden(events, self._visibility)
        prepare_flows(events)
        return Submission(events, by, self._visibility)

    def store_all(self, submissions: Sequence[Submission]) -> None:
        """In as few transactions as that takes; each submission then has its receipts or its error."""
        if submissions:
            self._commits.store_all(submissions)

    def _commit(self, submissions: Sequence[Submission]) -> None:
        with self._database.write() as conn:
            receipts = self._fold(conn, submissions)
        told = iter(receipts)  # only now: what is not on disk is not acknowledged
        for submission in submissions:
            submission.receipts = list(islice(told, len(submission.events)))

    def _fold(self, conn: Connection, submissions: Sequence[Submission]) -> list[Receipt]:
        submitted = [(event, s.actor) for s in submissions for event in s.events]
        for submission in submissions:
            if not submission.visibility.is_everything:
                refuse_hidden_runs(conn, submission.events, submission.visibility, [event for event, _ in submitted])
        receipts, self._memory = ingest_events(conn, self._memory, submitted)
        return receipts

    def change_max_direct_edges(self, limit: int) -> DirectEdgesLimit:
        """Give the store another maximum number of direct edges, and fold all events again under it.

        One transaction: no other process writes meanwhile; it takes about as long as ingesting the events did.
        """
        self._refuse_parts()
        return change_max_direct_edges(self._database, self._actor, limit)

    # -- the graph --------------------------------------------------------------------------------

    def upstream(
        self,
        dataset: DatasetName,
        column: str | None = None,
        partition: str | None = None,
        depth: int | None = None,
        as_of: datetime | None = None,
    ) -> Closure:
        """Where it comes from: everything it was made of, nearest first."""
        with self._view() as view:
            return closure(view, self._question(view, Direction.UPSTREAM, dataset, column, partition, depth, as_of))

    def downstream(
        self,
        dataset: DatasetName,
        column: str | None = None,
        partition: str | None = None,
        depth: int | None = None,
        as_of: datetime | None = None,
    ) -> Closure:
        """What was made of it, nearest first."""
        with self._view() as view:
            return closure(view, self._question(view, Direction.DOWNSTREAM, dataset, column, partition, depth, as_of))

    def impact(
        self,
        dataset: DatasetName,
        column: str | None = None,
        depth: int | None = None,
        as_of: datetime | None = None,
    ) -> Impact:
        """What breaks if it changes: affected assets with the columns touched, their jobs, owner and latest run."""
        with self._view() as view:
            return impact(view, self._question(view, Direction.DOWNSTREAM, dataset, column, None, depth, as_of))

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
        with self._view() as view:
            return catalog.list_datasets(
                view, search=search, namespace=namespace, kind=kind, owner=owner, tag=tag, limit=limit
            )

    def dataset(self, dataset: DatasetName) -> DatasetDetail:
        with self._view() as view:
            return catalog.describe_dataset(view, find_dataset(view, dataset))

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
        with self._view() as view:
            return runs.list_runs(
                view,
                job_name=job,
                namespace=namespace,
                state=state_of(state),
                dataset_id=find_dataset(view, dataset).id if dataset is not None else None,
                since=as_utc(since) if since else None,
                until=as_utc(until) if until else None,
                limit=limit,
            )

    def run(self, run_id: str) -> RunDetail:
        with self._view() as view:
            return runs.describe_run(view, run_id)

    def diff(self, run_a: str, run_b: str) -> RunDiff:
        """The differences of ``run_b`` from ``run_a``."""
        with self._view() as view:
            return runs.diff_runs(view, run_a, run_b)

    def output_facets(
        self, facet: str, *, dataset: DatasetName | None = None, run_id: str | None = None, limit: int = 100
    ) -> list[OutputFacet]:
        """One facet of the datasets that completed runs wrote, newest first."""
        refuse_unaskable(facet, limit)
        with self._view() as view:
            dataset_id = find_dataset(view, dataset).id if dataset is not None else None
            told = outputs.output_facets(view, facet, dataset_id=dataset_id, run_id=run_id)
            with closing(told) as found:
                return list(islice(found, limit))

    def trusted_capture_keys(self) -> frozenset[str]:
        """The public keys whose plans may be deserialized, in Base64."""
        with self._view() as view:
            return trusted_keys(view.conn)

    # -- quality ----------------------------------------------------------------------------------

    def quality(self, dataset: DatasetName, *, limit: int = 100) -> list[QualityStatement]:
        """What is known of a dataset's quality, measured, stated or imported: the newest first."""
        refuse_unaskable(limit)
        with self._view() as view:
            return quality.quality(view, find_dataset(view, dataset).id, limit)

    def set_quality(self, dataset: DatasetName, document: Mapping[str, Any], *, actor: Actor | None = None) -> Receipt:
        """State the quality of a dataset by hand: a document of WIA-DATA-008, section 4, whose ids may be left out."""
        with self._view() as view:
            row = find_dataset(view, dataset)
        event = quality_event(Dataset(row.namespace, row.name), dict(document), datetime.now(UTC))
        return self.ingest(event, actor=actor)

    # -- provenance -------------------------------------------------------------------------------

    @property
    def _provenance_pages(self) -> Pages:
        return self.pages

    def _state(self, dataset: DatasetName, statement: StatedProvenance, actor: Actor | None) -> Receipt:
        context = statement.context_document()
        by = actor or self._actor
        event = self.provenance_event(
            dataset, statement.event, statement.agent, statement.operation, context, statement.at, by
        )
        return self.ingest(event, actor=by)

    def provenance_event(
        self,
        dataset: DatasetName,
        event: ProvenanceEvent | str,
        agent: Mapping[str, Any] | None,
        operation: Mapping[str, Any] | None,
        context: Mapping[str, str],
        at: datetime | None,
        actor: Actor,
    ) -> dict[str, object]:
        """The OpenLineage event that :meth:`state_provenance` ingests, for callers that send it elsewhere."""
        kind = provenance_event_of(event)
        with self._view() as view:
            row = find_dataset(view, dataset)
        document: dict[str, object] = {
            "event_type": kind,
            "agent": _without_none(agent) or {"type": "user" if actor.type == "user" else "service", "id": actor.id},
            "operation": {"type": default_operation(kind)} | _without_none(operation),
        }
        if context:
            document["context"] = dict(context)
        return provenance_event(Dataset(row.namespace, row.name), document, at or datetime.now(UTC))

    def _question(
        self,
        view: View,
        direction: Direction,
        dataset: DatasetName,
        column: str | None,
        partition: str | None,
        depth: int | None,
        as_of: datetime | None,
    ) -> Question:
        return question(view, find_dataset(view, dataset), direction, column, partition, depth, as_of)

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Store {self._database}>"


def _without_none(members: Mapping[str, object] | None) -> dict[str, object]:
    return {name: value for name, value in (members or {}).items() if value is not None}


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
