"""A compaction as a run in the lineage graph: OpenLineage events, with the account of its records."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater import __version__
from headwater.formats.openlineage.event import read_event
from headwater.formats.openlineage.fidelity import LEDGER, MANIFEST
from headwater.model.ledger import Ledger, SourceLedger
from headwater.model.names import Dataset
from headwater.proof.canonical import canonical, digest_of
from headwater.records.archive.archive import RECORDS, TRACES, ArchiveFile
from headwater.records.tracing.spark_traces import RECORDED, TRACED
from headwater.store.fold.ingest import ingest_events
from headwater.store.fold.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.records.compaction.archive_attempt import PutAway
    from headwater.store.engine.database import Database, Transaction
    from headwater.store.store import Store

_PRODUCER = "urn:headwater:records"
_RUN_SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"


def hot_table(database: Database) -> Dataset:
    """By the names that OpenLineage has for tables of a database."""
    url = database.url
    if database.is_sqlite:
        return Dataset("sqlite", f"{database.file}/record_hot")
    return Dataset(f"postgres://{url.host or 'localhost'}:{url.port or 5432}", f"{url.database}.public.record_hot")


def folder(location: str, below: str = "") -> Dataset:
    scheme, _, rest = location.partition("://") if "://" in location else ("file", "", location)
    host, _, path = rest.partition("/")
    name = f"{path}/{below}".rstrip("/")
    return Dataset(f"{scheme}://{host}", name) if host else Dataset("file", f"/{name}")


def checksum_of(files: Iterable[ArchiveFile], kind: str) -> str:
    """Of the files of a kind: which they are and what they hold, as it was read back."""
    told = sorted([file.path, file.rows, file.bytes, file.digest.hex()] for file in files if file.kind == kind)
    return f"sha256-digests:{sha256(canonical(told).encode()).hexdigest()}"


@cache
def own_code() -> dict[str, str]:
    """Ours, by its version and the text of all its modules that have to do with records."""
    package, hashed = Path(__file__).parents[2], sha256()
    store = [*(package / "store" / "records").rglob("*.py"), package / "store" / "schema" / "record_tables.py"]
    for file in sorted([*(package / "records").rglob("*.py"), *store]):
        hashed.update(f"{file.relative_to(package)}\0".encode() + file.read_bytes() + b"\0")
    return {"package": "headwater", "version": __version__, "text": f"sha256:{hashed.hexdigest()}"}


@dataclass(frozen=True)
class Telling:
    """Tells the store of one run."""

    store: Store
    run_id: str
    job: str
    source: Dataset
    location: str
    settings: Mapping[str, Any]

    def started(self) -> None:
        self.store.ingest(self._event("START", {}, inputs=[self.source], outputs=[]))

    def completed(self, put: PutAway, conn: Transaction | None = None) -> None:
        """Given the transaction that makes the files count, in that one: the run has ended if and only if they do."""
        counts = (put.read, put.archived, put.already_there, put.refused)
        ledger = Ledger((SourceLedger(str(self.source), *counts),))
        outputs = [folder(self.location, kind) for kind in (RECORDS, TRACES)]
        manifest = {
            **self._known(),
            "inputChecksums": {} if put.source_checksum is None else {str(self.source): put.source_checksum},
            "outputChecksums": {
                str(output): checksum_of(put.added, kind)
                for output, kind in zip(outputs, (RECORDS, TRACES), strict=True)
            },
        }
        facets = {MANIFEST: manifest, LEDGER: ledger.document()}
        event = self._event("COMPLETE", facets, inputs=[self.source], outputs=outputs)
        if conn is None:
            self.store.ingest(event)
        else:
            ingest_events(conn, Memory(), [(read_event(event), self.store._actor)])

    def failed(self, error: BaseException) -> None:
        message = {"message": str(error)[:10_000] or type(error).__name__, "programmingLanguage": "PYTHON"}
        without = {str(self.source): "the run failed before what it read was known"}
        manifest = {**self._known(), "inputChecksums": {}, "outputChecksums": {}, "withoutChecksum": without}
        facets = {"errorMessage": message, MANIFEST: manifest}
        self.store.ingest(self._event("FAIL", facets, inputs=[self.source], outputs=[]))

    def _known(self) -> dict[str, Any]:
        """What a run can be told by, whatever becomes of it: its settings, the code, and what it makes of what."""
        config, code = dict(self.settings), own_code()
        design = {"job": self.job, "reads": str(self.source), "records": RECORDED, "traces": TRACED}
        return {
            "configHash": digest_of(config),
            "config": config,
            "codeHash": digest_of(code),
            "code": code,
            "designHash": digest_of(design),
        }

    def _event(
        self, state: str, facets: Mapping[str, Any], *, inputs: list[Dataset], outputs: list[Dataset]
    ) -> dict[str, Any]:
        signed = {
            name: {"_producer": _PRODUCER, "_schemaURL": f"urn:headwater:facet:{name}:1-0-0", **told}
            for name, told in facets.items()
        }
        return {
            "eventType": state,
            "eventTime": datetime.now(UTC).isoformat(),
            "run": {"runId": self.run_id, "facets": signed},
            "job": {"namespace": os.environ.get("HEADWATER_NAMESPACE") or "default", "name": self.job},
            "inputs": [{"namespace": each.namespace, "name": each.name} for each in inputs],
            "outputs": [{"namespace": each.namespace, "name": each.name} for each in outputs],
            "producer": _PRODUCER,
            "schemaURL": _RUN_SCHEMA,
        }
