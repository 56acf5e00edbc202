"""Questions about rows: `hw.trace`, `hw.trace_forward`, `hw.why_not`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headwater.errors import RowsError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from headwater.rows.answer import Trace
    from headwater.rows.forward import ForwardTrace
    from headwater.rows.why_not import WhyNot
    from headwater.store.store import Store

DEFAULT_VERIFY_LIMIT = 1_000
"""Source rows of an answer that is verified by default."""
_NO_SESSION = "For a stored run or dataset, pass a session: spark=spark."


def trace(
    what: DataFrame | str,
    where: str | Column | None = None,
    *,
    spark: SparkSession | None = None,
    store: str | Store | None = None,
    depth: int | None = 1,
    output: str | None = None,
    allow_python: bool = False,
    trust_unsigned: bool = False,
    verify_limit: int = DEFAULT_VERIFY_LIMIT,
) -> Trace:
    """Where rows come from: those that meet ``where``, a condition in SQL or a Column; without it, all of them.

    ``what`` is a DataFrame, or a run id or dataset of the store. ``depth`` is the number of jobs to trace back through:
    1 stops at the job's inputs, None at the first sources. A run with several outputs needs ``output``, the end of the
    name of one. The Python functions of a stored query run only with ``allow_python=True``. A stored query that no
    trusted key signed is refused; ``trust_unsigned=True`` reads one without a signature, as events had before captures
    signed.

    An answer of up to ``verify_limit`` source rows is verified when its grain is asked for: the query, run on these
    rows alone, has to give the traced rows again. 0 turns that off.
    """
    from headwater.rows.backward_chain import Tracer
    from headwater.rows.stored_writes import StoredWrites

    if not isinstance(what, str):
        spark = what.sparkSession
    if spark is None:
        raise RowsError(_NO_SESSION)
    if depth is not None and depth < 1:
        raise RowsError(f"The depth must be 1 or more, not {depth}.")
    if not isinstance(what, str) and depth == 1:
        return Tracer(StoredWrites(spark, None), verify_limit=verify_limit).trace_frame(what, where)
    with _history(store) as history:
        tracer = Tracer(StoredWrites(spark, history, allow_python, trust_unsigned), depth, verify_limit)
        return tracer.trace(what, where, output) if isinstance(what, str) else tracer.trace_frame(what, where)


@contextmanager
def _history(store: str | Store | None) -> Iterator[Store]:
    """A store that the caller passed stays open."""
    if store is None or isinstance(store, str):
        from headwater.store.address import default_store
        from headwater.store.store import Store as Opened

        with Opened(store or default_store(), create=False) as opened:
            yield opened
    else:
        yield store


def trace_forward(
    what: DataFrame | str,
    *,
    source: str,
    where: str | None = None,
    spark: SparkSession | None = None,
    store: str | Store | None = None,
    output: str | None = None,
    allow_python: bool = False,
    trust_unsigned: bool = False,
) -> ForwardTrace:
    """Which rows of ``what`` the rows of ``source`` reached: those that meet ``where``, a condition in SQL over the
    source's columns. A source may be named by the end of its name, as `raw/orders`. The other arguments are those of
    :func:`trace`."""
    from headwater.rows.forward import ForwardTrace
    from headwater.rows.marked import mark_source

    marked = mark_source(_query(what, spark, store, output, allow_python, trust_unsigned), source, where)
    return ForwardTrace(marked.provenance, marked.sources)


def why_not(
    what: DataFrame | str,
    *,
    source: str,
    where: str,
    spark: SparkSession | None = None,
    store: str | Store | None = None,
    output: str | None = None,
    allow_python: bool = False,
    trust_unsigned: bool = False,
) -> WhyNot:
    """Why the rows of ``source`` that meet ``where`` are not in ``what``: the first operator that let none of them
    through, with the values that decided it, and up to two more that would have stopped them after it."""
    from headwater.rows.marked import mark_source
    from headwater.rows.why_not import WhyNot

    frame = _query(what, spark, store, output, allow_python, trust_unsigned)
    return WhyNot(frame.sparkSession, mark_source(frame, source, where))


def _query(
    what: DataFrame | str,
    spark: SparkSession | None,
    store: str | Store | None,
    output: str | None,
    allow_python: bool,
    trust_unsigned: bool,
) -> DataFrame:
    """For a stored run or dataset, the query that wrote it last."""
    from headwater.rows.stored_writes import StoredWrites

    if not isinstance(what, str):
        return what
    if spark is None:
        raise RowsError(_NO_SESSION)
    with _history(store) as history:
        writes = StoredWrites(spark, history, allow_python, trust_unsigned)
        return writes.frame(writes.writes_of(what, output)[0])
