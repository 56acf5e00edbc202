"""Audit entries for row values that leave the server: who read rows of which datasets, selected by which columns.

The entry is on disk before the response is sent, or the values are not sent. It contains no values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from headwater.server.access.principal import Principal
from headwater.server.app.service import Service
from headwater.server.tasks import row_task
from headwater.store.log.audit import Deed
from headwater.store.log.audit_writer import deed

READ = "rows.read"
ROW_TASKS = (row_task.TRACE, row_task.FORWARD, row_task.WHY_NOT)

RowsDocument = Mapping[str, object]


async def record_read(
    service: Service,
    who: Principal,
    kind: str,
    answer: RowsDocument,
    columns: Sequence[str],
    *,
    task: str | None = None,
) -> None:
    """Write the audit entry. ``columns`` are those that select the rows; ``answer`` is a `TracedRows`, `ForwardRows` or
    `WhyNotRows`."""
    entry = read_entry(kind, answer, columns, task)
    await service.threads.write(service.store.deeds.record, (who.actor, entry))


def read_entry(kind: str, answer: RowsDocument, columns: Sequence[str], task: str | None = None) -> Deed:
    parts = list(_parts(answer))
    datasets = {name: None for part in parts if (name := _rows_of(part)) is not None}
    runs = list({run: None for part in parts for run in _runs(part)})
    dataset = answer["dataset"]
    resource = ("run", runs[0]) if dataset is None else ("dataset", str(dataset))
    return deed(
        READ,
        *resource,
        kind=kind,
        runs=runs,
        columns=sorted(set(columns)),
        datasets=list(datasets),
        rows=sum(len(rows) for part in parts if isinstance(rows := part.get("rows"), list | tuple)),
        task=task,
    )


def _parts(answer: RowsDocument) -> Iterator[RowsDocument]:
    """Yield the answer and all nested answers, each of one dataset. Row values are not searched."""
    yield answer
    for source in _documents(answer.get("sources")):
        yield source
        further = source.get("from")
        if isinstance(further, Mapping):
            yield from _parts(further)
    for step in _documents(answer.get("reached")):  # in a `WhyNotRows` it is a boolean
        yield from _parts(step)


def _documents(value: object) -> list[RowsDocument]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []


def _rows_of(part: RowsDocument) -> str | None:
    """Return the dataset whose rows the part shows. In a `WhyNotRows` that is the source."""
    dataset = part.get("source") or part["dataset"] if "rows" in part else None
    return None if dataset is None else str(dataset)


def _runs(part: RowsDocument) -> list[str]:
    if "run" in part:
        run = part["run"]
        return [str(run["run"] if isinstance(run, Mapping) else run)]
    return [str(run["run"]) for run in _documents(part.get("runs"))]
