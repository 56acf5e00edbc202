"""Switching the capture on, where the capture and the store meet: `hw.enable`, `hw.run`, `hw.flush`, `hw.disable`."""

from __future__ import annotations

import logging
import os
import platform
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.capture.delivery import Sink
    from headwater.capture.events.evidence import EvidenceKeeper
    from headwater.capture.events.row_capture import RowKeeper
    from headwater.capture.events.signing import CaptureKey
    from headwater.capture.listener.code import CodeLocation
    from headwater.model.expectations import Expectation
    from headwater.redaction.redactor import Redactor
    from headwater.store.store import Store

_log = logging.getLogger("headwater")
DEFAULT_STORE = "sqlite:///.headwater/lineage.db"
DEFAULT_SPOOL = ".headwater/spool"
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
    """From here on, every write of the session is captured.

    ``store`` is a store or its address, ``url`` an OpenLineage endpoint over HTTP (with ``api_key``), ``sink`` a
    `file:///path/events.jsonl`, `http://…`, `console` or a list of those; several of the three may be given, and with
    none of them it is the store of `HEADWATER_STORE` or `sqlite:///.headwater/lineage.db`. ``namespace`` is that of the
    jobs, ``job`` the name of the application in theirs. ``telemetry=False`` leaves out what Spark measured;
    ``leave_out`` names nodes of its plans to leave out; ``quality=True``, or a list of columns, has the nulls and the
    distinct values of what was written counted, by one more pass over it. ``rows`` is what is kept for questions about
    single rows: "key", what it takes to run the query again; "full", also the rows behind each row, as tables in the
    folder ``rows_location``; "sampled", those for the share ``rows_sample`` of the source rows; or "off".
    ``checksums`` of what is read and written are of the list of "files", of their "bytes" or of the "rows" in them; the
    latter two read the data again. ``literals`` are those of queries, in SQL text, plans and column logic: "keep" sends
    them, "mask" sends a placeholder for each, "drop" leaves such text out; the default is `HEADWATER_LITERALS`, or
    "keep". Secrets are removed in any case. Events wait in the folder ``spool`` for a sink that is down.
    ``capture_key`` is the file of the key that signs kept plans; the default is HEADWATER_CAPTURE_KEY, else a file that
    is made beside an embedded store, or in the spool.
    """
    from headwater import __version__
    from headwater.capture.events.evidence import EvidenceAsked
    from headwater.capture.events.row_capture import RowsAsked
    from headwater.capture.listener import session
    from headwater.capture.listener.application import Settings
    from headwater.capture.listener.named_runs import Measuring

    session.refuse_connect(spark)
    folder = Path(spool or os.environ.get("HEADWATER_SPOOL") or DEFAULT_SPOOL)
    target = _target_store(store, url, sink)
    key = _capture_key(capture_key, target, folder)
    settings = Settings(
        _sinks(target, url, sink, api_key or os.environ.get("HEADWATER_API_KEY"), key),
        namespace or os.environ.get("HEADWATER_NAMESPACE") or "default",
        job or os.environ.get("HEADWATER_JOB"),
        folder,
        Measuring(
            telemetry,
            tuple(leave_out),
            quality,
            RowsAsked(rows, rows_location, rows_sample),
            EvidenceAsked(checksums),
            literals or os.environ.get("HEADWATER_LITERALS") or "keep",
        ),
        _row_keeper,
        _evidence,
        key,
    )
    session.enable(spark, settings, __version__)


def disable(spark: SparkSession | None = None) -> None:
    """Capture no more; what was captured is delivered first, as far as that takes no longer than ten seconds."""
    from headwater.capture.listener import session

    session.disable(spark)


def flush(timeout: float = 30.0) -> bool:
    """Wait until all that was written so far is told and delivered; False if that took longer than ``timeout``."""
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
    """Name the job and group its writes into one run, whose id the block gets.

    ``partition`` is what the run writes of its outputs; what is measured of them is as in :func:`enable`, and so is
    what is kept of their rows, where ``rows`` does not say otherwise, the ``checksums`` and ``literals``.
    ``ledger=True`` has it
    found out, after each write, which rows of its inputs reached the output. ``expectations`` are what is promised of
    the run (:func:`headwater.expect`), those about rows of its inputs with the ledger. ``purpose``, ``legal_basis``,
    ``retention_period`` and ``sensitivity`` (public, internal, confidential or restricted) are told with the provenance
    of what it reads and writes. Without `hw.enable` the block just runs.
    """
    from headwater.capture.events.row_capture import RowsAsked
    from headwater.capture.listener import session
    from headwater.capture.listener.named_runs import Measuring
    from headwater.formats import provenance

    context = provenance.context_of(purpose, legal_basis, retention_period, sensitivity)
    asked = None if rows is None else RowsAsked(rows, rows_location, rows_sample)
    captures = session.active()
    if not captures:
        _log.warning("hw.run(%r) captures nothing: call hw.enable(spark) first.", job)
        yield None
        return
    ledger = ledger or any(each.needs_ledger for each in expectations)
    evidence = captures[-1].evidence_asked(checksums, expectations, ledger=ledger)
    measuring = Measuring(telemetry, tuple(leave_out), quality, asked, literals=literals)
    with captures[-1].run(job, partition, measuring, evidence=evidence) as named:
        if named is not None and context:
            named.facets[provenance.FACET] = {"context": context}
        yield None if named is None else named.identity.run_id


def _row_keeper(spark: SparkSession, redactor: Redactor) -> RowKeeper:
    """Made in a thread of the capture: the job need not wait for the imports."""
    from headwater.rows.pairs.capture import RowTableCapture

    return RowTableCapture(spark, redactor)


def _evidence(
    spark: SparkSession, code: CodeLocation | None, report: Callable[[Exception], None], redactor: Redactor
) -> EvidenceKeeper:
    from headwater.evidence.run_evidence import Evidence

    return Evidence(spark, code, report, redactor)


def _target_store(store: str | Store | None, url: str | None, sink: Any) -> str | Store | None:
    """The store that events go to, if they go to one."""
    if store is not None or url or sink:
        return store
    return os.environ.get("HEADWATER_STORE") or DEFAULT_STORE


def _sinks(store: str | Store | None, url: str | None, sink: Any, api_key: str | None, key: CaptureKey) -> list[Sink]:
    from headwater.capture.delivery import sink_for

    sinks = [sink] if isinstance(sink, str) else list(sink or ())
    found = [sink_for(target, api_key=api_key) for target in ([url] if url else []) + sinks]
    if store is not None:
        found.insert(0, _store_sink(store, key))
    return found


def _store_sink(store: str | Store, key: CaptureKey) -> Sink:
    from headwater.capture.delivery import IngestSink

    if isinstance(store, str):
        address = _checked(store)

        def connect() -> Store:
            from headwater.store.store import Store

            opened = Store(address)
            _trust_own(opened, key)
            return opened

        return IngestSink(connect, name=f"store {_without_password(address)}")

    def borrow() -> _Borrowed:
        _trust_own(store, key)
        return _Borrowed(store)

    return IngestSink(borrow, name="store")


def _capture_key(named: str | Path | None, store: str | Store | None, spool: Path) -> CaptureKey:
    """The key that the user names, else one that is made: beside the store's file, or in the spool."""
    from headwater.capture.events.signing import KEY_FILE, KEY_VARIABLE, CaptureKey

    named = named or os.environ.get(KEY_VARIABLE)
    if named:
        return CaptureKey(lambda: Path(named), create=False)
    if store is None or (isinstance(store, str) and not _is_embedded(store)):
        return CaptureKey(lambda: spool / KEY_FILE, create=True)
    return CaptureKey(lambda: _beside(store, spool), create=True)


def _is_embedded(address: str) -> bool:
    return address.startswith("sqlite:") or address == "memory://"


def _beside(store: str | Store, spool: Path) -> Path | None:
    """`lineage.db.capture.pem` beside `lineage.db`; None for a store in memory."""
    from headwater.store.engine.database import file_of

    if isinstance(store, str):
        file = file_of(store)
    elif store.file is None and not store.is_in_memory:
        return spool / "capture.pem"
    else:
        file = store.file
    return None if file is None else file.with_name(f"{file.name}.capture.pem")


def _trust_own(store: Store, key: CaptureKey) -> None:
    """Have an embedded store trust the key that was made for it. This process has opened the store's file and could
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


def _checked(address: str) -> str:
    """An address that no store can have is refused at once. The store's own check would import all of SQLAlchemy, which
    the job need not wait for: it is asked only where it will refuse."""
    if not _STORE_ADDRESS.match(address):
        from headwater.store.engine.database import shown_address

        shown_address(address)
    return address


def _without_password(address: str) -> str:
    return re.sub(r"(?<=[?&])(ssl)?password=[^&]*", "", re.sub(r"(://[^:/@]*):[^@/]*@", r"\1@", address))


class _Borrowed:
    """A store that the user opened and will close."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def ingest_many(self, events: Sequence[bytes], /) -> object:
        return self._store.ingest_many(events)

    def close(self) -> None:
        pass
