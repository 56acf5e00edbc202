"""Audit entries for row values that leave the server: who read rows of which datasets, selected by which columns.

The entry is on disk before the response is sent, or the values are not sent. It contains no values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headwater.server.access.principal import Principal
from headwater.server.app.service import Service
from headwater.server.tasks import row_task
from headwater.store.log.audit import Deed
from headwater.store.log.audit_writer import deed

READ = "rows.read"
ROW_TASKS = (row_task.TRACE, row_task.FORWARD, row_task.WHY_NOT)

RowsDocument = Mapping[str, Any]


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
    resource = ("run", runs[0]) if answer["dataset"] is None else ("dataset", answer["dataset"])
    return deed(
        READ,
        *resource,
        kind=kind,
        runs=runs,
        columns=sorted(set(columns)),
        datasets=list(datasets),
        rows=sum(len(part.get("rows", ())) for part in parts),
        task=task,
    )


def _parts(answer: RowsDocument) -> Iterator[RowsDocument]:
    """Yield the answer and all nested answers, each of one dataset. Row values are not searched."""
    yield answer
    for source in answer.get("sources", ()):
        yield source
        if "from" in source:
            yield from _parts(source["from"])
    reached = answer.get("reached")
    if isinstance(reached, list):  # in a `WhyNotRows` it is a boolean
        for step in reached:
            yield from _parts(step)


def _rows_of(part: RowsDocument) -> str | None:
    """Return the dataset whose rows the part shows. In a `WhyNotRows` that is the source."""
    return part.get("source") or part["dataset"] if "rows" in part else None


def _runs(part: RowsDocument) -> list[str]:
    if "run" in part:
        run = part["run"]
        return [run if isinstance(run, str) else run["run"]]
    return [run["run"] for run in part.get("runs", ())]
