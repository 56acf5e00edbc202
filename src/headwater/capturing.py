"""Enables the capture, connecting it to the store: `hw.enable`, `hw.run`, `hw.flush`, `hw.disable`."""

from __future__ import annotations

import logging
import os
import platform
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.capture.delivery import EventSink
    from headwater.capture.events.evidence import EvidenceProvider
    from headwater.capture.events.row_capture import RowCapture
    from headwater.capture.events.signing import CaptureSigningKey
    from headwater.capture.listener.code import CodeLocation
    from headwater.capture.listener.named_runs import CaptureOptions
    from headwater.model.expectations import Expectation
    from headwater.redaction.redactor import Redactor
    from headwater.store.store import Store

_log = logging.getLogger("headwater")
_STORE_ADDRESS = re.compile(r"sqlite:///.+|postgresql(\+psycopg)?://.+|memory://$")


def enable(
    spark: SparkSession,
    *,
    store: str | Store | None = None,
    url: str | None = None,
    sink: str | Sequence[str] | None = None,
    namespace: str | None = None,
    job: str | None = None,
    api_key: str | None = None,
    telemetry: bool = True,
    leave_out: Sequence[str] = (),
    quality: bool | Sequence[str] = False,
    rows: str = "key",
    rows_location: str | None = None,
    rows_sample: float = 0.01,
    checksums: str = "files",
    literals: str | None = None,
    spool: str | Path | None = None,
    capture_key: str | Path | None = None,
) -> None:
    """Capture every write of the session from now on.

    ``store`` is a store or its address, ``url`` an OpenLineage endpoint over HTTP (with ``api_key``), ``sink`` a
    `file:///path/events.jsonl`, `http://…`, `console` or a list of those; several of the three may be given. Without
    any of them, events go to the store in `HEADWATER_STORE` or `sqlite:///.headwater/lineage.db`. ``namespace`` is the
    namespace of the jobs, ``job`` the name of the application. ``telemetry=False`` leaves out Spark's metrics;
    ``leave_out`` names plan nodes to leave out; ``quality=True``, or a list of columns, counts nulls and distinct
    values of what was written, by one more pass over it. ``rows`` is what is captured to trace single rows: "key", what
    is needed to run the query again; "full", also tables in the folder ``rows_location`` that link output rows to input
    rows; "sampled", such tables for the share ``rows_sample`` of the source rows; or "off". ``checksums`` of what is
    read and written are of the list of "files", of their "bytes" or of the "rows" in them; the latter two read the data
    again. ``literals`` are those of queries, in SQL text, plans and column logic: "keep" sends them, "mask" sends a
    placeholder for each, "drop" leaves such text out; the default is `HEADWATER_LITERALS`, or "keep". Secrets are
    always removed. Events wait in the folder ``spool`` for a sink that is down; the default is `HEADWATER_SPOOL`,
    else a folder beside the store's file, or the user's own where the store is no file. ``capture_key`` is the file of
    the key that signs kept plans; the default is HEADWATER_CAPTURE_KEY, else a file that is created beside an embedded
    store, or in the spool.
    """
    from headwater import __version__
    from headwater.capture.listener import session
    from headwater.capture.listener.application import CaptureSettings

    session.refuse_connect(spark)
    target = _target_store(store, url, sink)
    folder = Path(spool) if spool else spool_folder(target)
    key = _capture_key(capture_key, target, folder)
    settings = CaptureSettings(
        sinks=_make_sinks(target, url, sink, api_key or os.environ.get("HEADWATER_API_KEY"), key),
        namespace=namespace or os.environ.get("HEADWATER_NAMESPACE") or "default",
        job=job or os.environ.get("HEADWATER_JOB"),
        spool=folder,
        options=_capture_options(
            telemetry, leave_out, quality, (rows, rows_location, rows_sample), checksums, literals
        ),
        make_row_capture=_make_row_capture,
        make_evidence=_make_evidence_provider,
        key=key,
    )
    session.enable(spark, settings, __version__)


def spool_folder(store: str | Store | None) -> Path:
    """Where events wait unless `hw.enable` names a folder: `lineage.db.spool` beside `lineage.db`, and `spool` in a
    folder `.headwater`. Never the working directory, which may differ from run to run: what a process leaves is
    delivered by the next one that uses the same folder."""
    named = os.environ.get("HEADWATER_SPOOL")
    if named:
        return Path(named)
    file = _embedded_file(store) if isinstance(store, str) else store.file if store is not None else None
    if file is not None:
        file = Path(os.path.abspath(file))
        return file.with_name("spool" if file.parent.name == ".headwater" else f"{file.name}.spool")
    try:
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    except RuntimeError:  # a user without a home
        return Path(tempfile.gettempdir()) / "headwater" / "spool"
    return state / "headwater" / "spool"


def _embedded_file(address: str) -> str | None:
    """The file of an address that `store.engine.database.file_of` reads as well; that one imports all of SQLAlchemy."""
    match = re.fullmatch(r"sqlite(?:\+\w+)?:///(?:file:)?([^?]+)(?:\?.*)?", address)
    return None if match is None or match[1] == ":memory:" else match[1]


def _capture_options(
    telemetry: bool,
    leave_out: Sequence[str],
    quality: bool | Sequence[str],
    rows: tuple[str, str | None, float],
    checksums: str,
    literals: str | None,
) -> CaptureOptions:
    from headwater.capture.events.evidence import EvidenceOptions
    from headwater.capture.events.row_capture import RowCaptureOptions
    from headwater.capture.listener.named_runs import CaptureOptions

    literals = literals or os.environ.get("HEADWATER_LITERALS") or "keep"
    return CaptureOptions(
        telemetry, tuple(leave_out), quality, RowCaptureOptions(*rows), EvidenceOptions(checksums), literals
    )


def disable(spark: SparkSession | None = None) -> None:
    """Stop capturing. Captured events are delivered first, for at most ten seconds."""
    from headwater.capture.listener import session

    session.disable(spark)


def flush(timeout: float = 30.0) -> bool:
    """Wait until everything written so far is sent and delivered; False if that takes longer than ``timeout``
    seconds."""
    from headwater.capture.listener import session

    return session.flush(timeout)


@contextmanager
def run(
    job: str,
    *,
    partition: str | None = None,
    telemetry: bool = True,
    leave_out: Sequence[str] = (),
    quality: bool | Sequence[str] = False,
    rows: str | None = None,
    rows_location: str | None = None,
    rows_sample: float = 0.01,
    checksums: str | None = None,
    literals: str | None = None,
    ledger: bool = False,
    expectations: Sequence[Expectation] = (),
    purpose: str | None = None,
    legal_basis: str | None = None,
    retention_period: str | None = None,
    sensitivity: str | None = None,
) -> Iterator[str | None]:
    """Name the job and group its writes into one run. The `with` block gets the run's id.

    ``partition`` is the partition that the run writes of its outputs. What is measured is as in :func:`enable`; so are
    ``rows``, ``checksums`` and ``literals``, unless they are given. ``ledger=True`` counts, after each write, which
    rows of its inputs reached the output. ``expectations`` are those of the run (:func:`headwater.expect`); those about
    input rows need the ledger. ``purpose``, ``legal_basis``, ``retention_period`` and ``sensitivity`` (public,
    internal, confidential or restricted) are recorded with the provenance of what it reads and writes. Without
    `hw.enable` the block runs without capture.
    """
    from headwater.capture.events.row_capture import RowCaptureOptions
    from headwater.capture.listener import session
    from headwater.capture.listener.named_runs import CaptureOptions
    from headwater.formats import provenance
    from headwater.formats.openlineage.facet_names import PROVENANCE_FACET

    context = provenance.context_document(purpose, legal_basis, retention_period, sensitivity)
    row_options = None if rows is None else RowCaptureOptions(rows, rows_location, rows_sample)
    captures = session.active()
    if not captures:
        _log.warning("hw.run(%r) captures nothing: call hw.enable(spark) first.", job)
        yield None
        return
    ledger = ledger or any(expectation.needs_ledger for expectation in expectations)
    evidence = captures[-1].evidence_options(checksums, expectations, ledger=ledger)
    options = CaptureOptions(telemetry, tuple(leave_out), quality, row_options, literals=literals)
    with captures[-1].run(job, partition, options, evidence=evidence) as named:
        if named is not None and context:
            named.facets[PROVENANCE_FACET] = {"context": context}
        yield None if named is None else named.identity.run_id


def _make_row_capture(spark: SparkSession, redactor: Redactor) -> RowCapture:
    """Made in a thread of the capture: the job does not wait for the imports."""
    from headwater.rows.pairs.capture import RowTableCapture

    return RowTableCapture(spark, redactor)


def _make_evidence_provider(
    spark: SparkSession, code: CodeLocation | None, report: Callable[[Exception], None], redactor: Redactor
) -> EvidenceProvider:
    from headwater.evidence.run_evidence import RunEvidence

    return RunEvidence(spark, code, report, redactor)


def _target_store(store: str | Store | None, url: str | None, sink: str | Sequence[str] | None) -> str | Store | None:
    """The store that events go to, if there is one."""
    if store is not None or url or sink:
        return store
    from headwater.store.address import default_store

    return default_store()


def _make_sinks(
    store: str | Store | None,
    url: str | None,
    sink: str | Sequence[str] | None,
    api_key: str | None,
    key: CaptureSigningKey,
) -> list[EventSink]:
    from headwater.capture.delivery import sink_for

    sinks = [sink] if isinstance(sink, str) else list(sink or ())
    all_sinks = [sink_for(target, api_key=api_key) for target in ([url] if url else []) + sinks]
    if store is not None:
        all_sinks.insert(0, _make_store_sink(store, key))
    return all_sinks


def _make_store_sink(store: str | Store, key: CaptureSigningKey) -> EventSink:
    from headwater.capture.delivery import IngestSink

    if isinstance(store, str):
        address = _checked_address(store)

        def connect() -> Store:
            from headwater.store.store import Store

            opened = Store(address)
            _trust_default_key(opened, key)
            return opened

        return IngestSink(connect, name=f"store {_without_password(address)}")

    def borrow() -> _BorrowedStore:
        _trust_default_key(store, key)
        return _BorrowedStore(store)

    return IngestSink(borrow, name="store")


def _capture_key(named: str | Path | None, store: str | Store | None, spool: Path) -> CaptureSigningKey:
    """The key file that the user names, else one that is created: beside the store's file, or in the spool."""
    from headwater.capture.events.signing import KEY_FILE, KEY_VARIABLE, CaptureSigningKey

    named = named or os.environ.get(KEY_VARIABLE)
    if named:
        return CaptureSigningKey(lambda: Path(named), create=False)
    if store is None or (isinstance(store, str) and not _is_embedded(store)):
        return CaptureSigningKey(lambda: spool / KEY_FILE, create=True)
    return CaptureSigningKey(lambda: _default_key_file(store, spool), create=True)


def _is_embedded(address: str) -> bool:
    return address.startswith("sqlite:") or address == "memory://"


def _default_key_file(store: str | Store, spool: Path) -> Path | None:
    """`lineage.db.capture.pem` beside `lineage.db`; None for a store in memory."""
    from headwater.store.engine.database import file_at

    if isinstance(store, str):
        file = file_at(store)
    elif store.file is None and not store.is_in_memory:
        return spool / "capture.pem"
    else:
        file = store.file
    return None if file is None else file.with_name(f"{file.name}.capture.pem")


def _trust_default_key(store: Store, key: CaptureSigningKey) -> None:
    """Make an embedded store trust the key that was created for it. This process has opened the store's file and could
    write anything into it, so trust gives it nothing new. An event that arrives over HTTP never comes this way."""
    from headwater.errors import HeadwaterError
    from headwater.proof.keys import key_text

    if not key.is_default or not (store.is_in_memory or store.file is not None):
        return
    signing = key.get()
    if signing is None:
        return
    try:
        store.capture_keys.trust_new(key_text(signing.public), name=f"captures on {platform.node() or 'this machine'}")
    except HeadwaterError as error:  # the events come first
        _log.warning("The store does not trust the key of this capture yet. %s", error)


def _checked_address(address: str) -> str:
    """Refuses an address that no store can have. The store's own check would import all of SQLAlchemy, which the job
    need not wait for: it is called only if it will refuse."""
    if not _STORE_ADDRESS.match(address):
        from headwater.store.engine.database import shown_address

        shown_address(address)
    return address


def _without_password(address: str) -> str:
    return re.sub(r"(?<=[?&])(ssl)?password=[^&]*", "", re.sub(r"(://[^:/@]*):[^@/]*@", r"\1@", address))


class _BorrowedStore:
    """A store that the user opened and will close."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def ingest_many(self, events: Sequence[bytes], /) -> object:
        return self._store.ingest_many(events)

    def close(self) -> None:
        pass
