"""A compaction as a run in the lineage graph: its OpenLineage events, with the ledger of its records."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from headwater import __version__
from headwater.formats.openlineage.event import read_event
from headwater.formats.openlineage.facet_names import LEDGER_FACET, MANIFEST_FACET, schema_url
from headwater.model.ledger import Ledger, SourceLedger
from headwater.model.names import Dataset
from headwater.proof.canonical import canonical, digest_of
from headwater.records.archive.archive import RECORDS, TRACES, ArchiveFile
from headwater.records.tracing.spark_traces import RECORD_SCHEMA, TRACE_SCHEMA
from headwater.store.fold.ingest import ingest_events
from headwater.store.fold.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.records.compaction.archive_attempt import AttemptResult
    from headwater.store.engine.database import Database, Transaction
    from headwater.store.store import Store

_PRODUCER = "urn:headwater:records"
_RUN_SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"


def hot_table_dataset(database: Database) -> Dataset:
    """The hot table, named as OpenLineage names tables of a database."""
    return Dataset(*database.dialect.table_name(database.url, database.file, "record_hot"))


def folder_dataset(location: str, below: str = "") -> Dataset:
    scheme, _, rest = location.partition("://") if "://" in location else ("file", "", location)
    host, _, path = rest.partition("/")
    name = f"{path}/{below}".rstrip("/")
    return Dataset(f"{scheme}://{host}", name) if host else Dataset("file", f"/{name}")


def files_checksum(files: Iterable[ArchiveFile], kind: str) -> str:
    """A checksum of the files of a kind: their paths, sizes and content digests, as they were read back."""
    entries = sorted([file.path, file.rows, file.bytes, file.digest.hex()] for file in files if file.kind == kind)
    return f"sha256-digests:{sha256(canonical(entries).encode()).hexdigest()}"


@cache
def ledger_code() -> dict[str, str]:
    """The version of headwater, and a hash over the source of all its modules of the record ledger."""
    package, hashed = Path(__file__).parents[2], sha256()
    others = [package / "store" / "schema" / "record_tables.py", package / "model" / "record_schema.py"]
    folders = package / "records", package / "store" / "records"
    for file in sorted([*others, *(file for folder in folders for file in folder.rglob("*.py"))]):
        hashed.update(f"{file.relative_to(package)}\0".encode() + file.read_bytes() + b"\0")
    return {"package": "headwater", "version": __version__, "text": f"sha256:{hashed.hexdigest()}"}


@dataclass(frozen=True)
class CompactionRun:
    """Emits the events of one compaction to the store."""

    store: Store
    run_id: str
    job: str
    source: Dataset
    location: str
    settings: Mapping[str, object]

    def emit_start(self) -> None:
        self.store.ingest(self._event("START", {}, inputs=[self.source], outputs=[]))

    def emit_complete(self, result: AttemptResult, conn: Transaction | None = None) -> None:
        """With ``conn`` in the transaction of the commit: the run is complete if and only if its files count."""
        counts = (result.read, result.archived, result.already_there, result.refused)
        ledger = Ledger((SourceLedger(str(self.source), *counts),))
        outputs = [folder_dataset(self.location, kind) for kind in (RECORDS, TRACES)]
        manifest = {
            **self._manifest_base(),
            "inputChecksums": {} if result.source_checksum is None else {str(self.source): result.source_checksum},
            "outputChecksums": {
                str(output): files_checksum(result.added, kind)
                for output, kind in zip(outputs, (RECORDS, TRACES), strict=True)
            },
        }
        facets: dict[str, Mapping[str, object]] = {MANIFEST_FACET: manifest, LEDGER_FACET: ledger.document()}
        event = self._event("COMPLETE", facets, inputs=[self.source], outputs=outputs)
        if conn is None:
            self.store.ingest(event)
        else:
            ingest_events(conn, Memory(), [(read_event(event), self.store._actor)])

    def emit_fail(self, error: BaseException) -> None:
        message = {"message": str(error)[:10_000] or type(error).__name__, "programmingLanguage": "PYTHON"}
        no_checksum = {str(self.source): "the run failed before its input was known"}
        manifest = {
            **self._manifest_base(),
            "inputChecksums": {},
            "outputChecksums": {},
            "withoutChecksum": no_checksum,
        }
        facets: dict[str, Mapping[str, object]] = {"errorMessage": message, MANIFEST_FACET: manifest}
        self.store.ingest(self._event("FAIL", facets, inputs=[self.source], outputs=[]))

    def _manifest_base(self) -> dict[str, object]:
        """The parts of the manifest that do not depend on the outcome: settings, code and design, with their hashes."""
        config, code = dict(self.settings), ledger_code()
        design = {"job": self.job, "reads": str(self.source), "records": RECORD_SCHEMA, "traces": TRACE_SCHEMA}
        return {
            "configHash": digest_of(config),
            "config": config,
            "codeHash": digest_of(code),
            "code": code,
            "designHash": digest_of(design),
        }

    def _event(
        self, state: str, facets: Mapping[str, Mapping[str, object]], *, inputs: list[Dataset], outputs: list[Dataset]
    ) -> dict[str, object]:
        with_producer = {
            name: {"_producer": _PRODUCER, "_schemaURL": schema_url(name), **facet} for name, facet in facets.items()
        }
        return {
            "eventType": state,
            "eventTime": datetime.now(UTC).isoformat(),
            "run": {"runId": self.run_id, "facets": with_producer},
            "job": {"namespace": os.environ.get("HEADWATER_NAMESPACE") or "default", "name": self.job},
            "inputs": [{"namespace": dataset.namespace, "name": dataset.name} for dataset in inputs],
            "outputs": [{"namespace": dataset.namespace, "name": dataset.name} for dataset in outputs],
            "producer": _PRODUCER,
            "schemaURL": _RUN_SCHEMA,
        }
