"""The methods of a store about provenance, the same whether the store is here or on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from headwater.formats.provenance import context_document
from headwater.formats.query_checks import provenance_event_of, refuse_unaskable
from headwater.formats.wia.elements import Document
from headwater.model.answers import Receipt
from headwater.model.audit import Actor
from headwater.model.names import Endpoint
from headwater.model.pages import Page
from headwater.model.provenance import Provenance, ProvenanceEvent

DatasetName = str | Endpoint


@dataclass(frozen=True)
class StatedProvenance:
    """What :meth:`ProvenanceMethods.state_provenance` was called with."""

    event: ProvenanceEvent | str
    agent: Mapping[str, object] | None
    operation: Mapping[str, object] | None
    context: Mapping[str, str | None]
    """Purpose, legal basis, retention period and sensitivity, by the names of the parameters."""
    at: datetime | None

    def context_document(self) -> Document:
        return context_document(
            self.context["purpose"],
            self.context["legal_basis"],
            self.context["retention_period"],
            self.context["sensitivity"],
        )


class ProvenancePages(Protocol):
    def provenance(
        self,
        dataset: DatasetName,
        *,
        event: ProvenanceEvent | None,
        since: datetime | None,
        until: datetime | None,
        limit: int,
    ) -> Page[Provenance]: ...


class ProvenanceMethods(ABC):
    @property
    @abstractmethod
    def _provenance_pages(self) -> ProvenancePages: ...

    @abstractmethod
    def _state(self, dataset: DatasetName, statement: StatedProvenance, actor: Actor | None) -> Receipt: ...

    def provenance(
        self,
        dataset: DatasetName,
        *,
        event: ProvenanceEvent | str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 100,
    ) -> list[Provenance]:
        """Who created, modified, accessed or deleted it, the newest first: what runs did, and what was stated."""
        refuse_unaskable(limit)
        kind = provenance_event_of(event)
        page = self._provenance_pages.provenance(dataset, event=kind, since=since, until=until, limit=limit)
        return list(page.items)

    def state_provenance(
        self,
        dataset: DatasetName,
        event: ProvenanceEvent | str,
        *,
        agent: Mapping[str, object] | None = None,
        operation: Mapping[str, object] | None = None,
        purpose: str | None = None,
        legal_basis: str | None = None,
        retention_period: str | None = None,
        sensitivity: str | None = None,
        at: datetime | None = None,
        actor: Actor | None = None,
    ) -> Receipt:
        """State an action that no run reports: who read, exported, changed or deleted a dataset, and why.

        ``agent``: `type` (user, service or job), `id` and `name`; by default the caller, over HTTP the holder of the
        key. ``operation``: `type` (read, write, transform or export), `method` and `parameters`. ``sensitivity``:
        public, internal, confidential or restricted. ``at``: by default now. The same statement twice counts once.
        """
        context = {
            "purpose": purpose,
            "legal_basis": legal_basis,
            "retention_period": retention_period,
            "sensitivity": sensitivity,
        }
        return self._state(dataset, StatedProvenance(event, agent, operation, context, at), actor)
