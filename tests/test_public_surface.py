"""What others build on. A change here is a change for them: make it on purpose."""

from __future__ import annotations

import inspect

import headwater
from headwater import errors
from headwater.store.store import Store

STORE = {
    "__init__": "(self, url: 'str' = 'sqlite:///.headwater/lineage.db', *, create: 'bool' = True, "
    "actor: 'Actor | None' = None) -> 'None'",
    "ingest": "(self, event: 'RawEvent', *, actor: 'Actor | None' = None) -> 'Receipt'",
    "ingest_many": "(self, events: 'Iterable[RawEvent]', *, actor: 'Actor | None' = None) -> 'list[Receipt]'",
    "upstream": "(self, dataset: 'DatasetName', column: 'str | None' = None, partition: 'str | None' = None, "
    "depth: 'int | None' = None, as_of: 'datetime | None' = None) -> 'Closure'",
    "downstream": "(self, dataset: 'DatasetName', column: 'str | None' = None, partition: 'str | None' = None, "
    "depth: 'int | None' = None, as_of: 'datetime | None' = None) -> 'Closure'",
    "impact": "(self, dataset: 'DatasetName', column: 'str | None' = None, depth: 'int | None' = None, "
    "as_of: 'datetime | None' = None) -> 'Impact'",
    "datasets": "(self, search: 'str | None' = None, *, namespace: 'str | None' = None, kind: 'str | None' = None, "
    "owner: 'str | None' = None, tag: 'str | None' = None, limit: 'int' = 100) -> 'list[DatasetSummary]'",
    "dataset": "(self, dataset: 'DatasetName') -> 'DatasetDetail'",
    "runs": "(self, *, job: 'str | None' = None, namespace: 'str | None' = None, "
    "state: 'RunState | str | None' = None, dataset: 'DatasetName | None' = None, "
    "since: 'datetime | None' = None, until: 'datetime | None' = None, limit: 'int' = 100) -> 'list[Run]'",
    "run": "(self, run_id: 'str') -> 'RunDetail'",
    "diff": "(self, run_a: 'str', run_b: 'str') -> 'RunDiff'",
    "audit": "(self, *, event_type: 'str | None' = None, actor: 'str | None' = None, resource: 'str | None' = None, "
    "correlation_id: 'str | None' = None, before: 'int | None' = None, limit: 'int' = 100) -> 'list[AuditEntry]'",
    "verify": "(self) -> 'tuple[int, str]'",
    "close": "(self) -> 'None'",
}

WATCH = {
    "enable": "(spark: 'SparkSession', *, store: 'str | Store | None' = None, url: 'str | None' = None, "
    "sink: 'str | Sequence[str] | None' = None, namespace: 'str | None' = None, job: 'str | None' = None, "
    "api_key: 'str | None' = None, telemetry: 'bool' = True, leave_out: 'Sequence[str]' = (), "
    "quality: 'bool | Sequence[str]' = False, spool: 'str | Path | None' = None) -> 'None'",
    "disable": "(spark: 'SparkSession | None' = None) -> 'None'",
    "flush": "(timeout: 'float' = 30.0) -> 'bool'",
    "run": "(job: 'str', *, partition: 'str | None' = None, telemetry: 'bool' = True, "
    "leave_out: 'Sequence[str]' = (), quality: 'bool | Sequence[str]' = False) -> 'Iterator[str | None]'",
}

TREE = """
HeadwaterError
├── EventRefused
├── PlanUnreadable
├── QueryError
│   ├── UnknownDataset
│   ├── AmbiguousDataset
│   ├── UnknownColumn
│   ├── UnknownPartition
│   └── UnknownRun
└── StoreError
    ├── StoreUrlInvalid
    ├── StoreMissing
    ├── StoreUnavailable
    ├── StoreReadOnly
    ├── StoreNotOurs
    ├── StoreOutdated
    ├── StoreTooNew
    └── AuditBroken
"""


def test_what_the_package_exports() -> None:
    assert headwater.__all__ == [
        *("Column", "Dataset", "HeadwaterError", "Job", "Partition"),
        *("connect", "disable", "enable", "flush", "run"),
    ]
    for name in headwater.__all__:
        assert getattr(headwater, name) is not None
    visible = {name for name in vars(headwater) if not name.startswith("_")}
    submodules = {name for name, value in vars(headwater).items() if inspect.ismodule(value)}
    assert visible - submodules == {*headwater.__all__, "TYPE_CHECKING", "Any", "annotations"}


def test_the_methods_of_a_store() -> None:
    public = {name: value for name, value in vars(Store).items() if callable(value) and not name.startswith("_")}
    public["__init__"] = Store.__init__
    assert {name: str(inspect.signature(method)) for name, method in public.items()} == STORE


def test_the_capture() -> None:
    assert {name: str(inspect.signature(getattr(headwater, name))) for name in WATCH} == WATCH


def test_connect() -> None:
    assert str(inspect.signature(headwater.connect)) == (
        "(url: 'str' = 'sqlite:///.headwater/lineage.db', **options: 'Any') -> 'Store'"
    )
    with headwater.connect("memory://") as lin:
        assert isinstance(lin, Store)
        assert lin.datasets() == []


def test_the_error_tree_is_the_one_drawn() -> None:
    """As the docstring of errors.py draws it, as the classes are, and as it was agreed."""
    drawn = [line.rstrip() for line in (errors.__doc__ or "").splitlines() if "Error" in line or "──" in line]
    names = [line.strip(" │├└─").split()[0] for line in drawn if not line.startswith(("Every", "The"))]
    assert [line.strip(" │├└─") for line in TREE.split("\n") if line] == names
    assert grow(errors.HeadwaterError) == TREE.strip().split("\n")


def grow(kind: type[Exception], indent: str = "", mark: str = "") -> list[str]:
    lines = [f"{indent}{mark}{kind.__name__}"]
    deeper = indent + {"": "", "├── ": "│   ", "└── ": "    "}[mark]
    children = [child for child in kind.__subclasses__() if child.__module__ == errors.__name__]
    for child in children:
        lines += grow(child, deeper, "└── " if child is children[-1] else "├── ")
    return lines


def test_every_error_is_exported_and_ours() -> None:
    defined = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception) and value.__module__ == errors.__name__
    }
    assert set(errors.__all__) == defined
    assert all(issubclass(getattr(errors, name), headwater.HeadwaterError) for name in defined)
