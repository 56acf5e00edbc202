"""The public API. A change here is a change for users: make it on purpose."""

from __future__ import annotations

import inspect

import headwater
from headwater import errors
from headwater.client import Lineage
from headwater.formats.provenance_methods import ProvenanceMethods
from headwater.store.proofs import StoreProofs
from headwater.store.store import Store

STORE = {
    "__init__": "(self, url: 'str' = 'sqlite:///.headwater/lineage.db', *, create: 'bool' = True, "
    "actor: 'Actor | None' = None, max_direct_edges: 'int | None' = None) -> 'None'",
    "visible_to": "(self, visibility: 'Visibility') -> 'Store'",
    "ingest": "(self, event: 'RawEvent', *, actor: 'Actor | None' = None) -> 'Receipt'",
    "ingest_many": "(self, events: 'Iterable[RawEvent]', *, actor: 'Actor | None' = None) -> 'list[Receipt]'",
    "take": "(self, events: 'Sequence[Event]', *, actor: 'Actor | None' = None) -> 'list[Receipt]'",
    "take_stream": "(self, portions: 'Iterable[Sequence[RawEvent]]', *, actor: 'Actor | None' = None) "
    "-> 'tuple[int, int]'",
    "submission": "(self, events: 'Sequence[Event]', *, actor: 'Actor | None' = None) -> 'Submission'",
    "store_all": "(self, submissions: 'Sequence[Submission]') -> 'None'",
    "change_max_direct_edges": "(self, limit: 'int') -> 'DirectEdgesLimit'",
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
    "output_facets": "(self, facet: 'str', *, dataset: 'DatasetName | None' = None, run_id: 'str | None' = None, "
    "limit: 'int' = 100) -> 'list[OutputFacet]'",
    "trusted_capture_keys": "(self) -> 'frozenset[str]'",
    "quality": "(self, dataset: 'DatasetName', *, limit: 'int' = 100) -> 'list[QualityStatement]'",
    "set_quality": "(self, dataset: 'DatasetName', document: 'Mapping[str, Any]', *, actor: 'Actor | None' = None) "
    "-> 'Receipt'",
    "provenance": "(self, dataset: 'DatasetName', *, event: 'ProvenanceEvent | str | None' = None, "
    "since: 'datetime | None' = None, until: 'datetime | None' = None, limit: 'int' = 100) -> 'list[Provenance]'",
    "state_provenance": "(self, dataset: 'DatasetName', event: 'ProvenanceEvent | str', *, "
    "agent: 'Mapping[str, object] | None' = None, operation: 'Mapping[str, object] | None' = None, "
    "purpose: 'str | None' = None, legal_basis: 'str | None' = None, retention_period: 'str | None' = None, "
    "sensitivity: 'str | None' = None, at: 'datetime | None' = None, actor: 'Actor | None' = None) -> 'Receipt'",
    "provenance_event": "(self, dataset: 'DatasetName', event: 'ProvenanceEvent | str', "
    "agent: 'Mapping[str, Any] | None', operation: 'Mapping[str, Any] | None', context: 'Mapping[str, str]', "
    "at: 'datetime | None', actor: 'Actor') -> 'dict[str, object]'",
    "audit": "(self, *, event_type: 'str | None' = None, actor: 'str | None' = None, resource: 'str | None' = None, "
    "correlation_id: 'str | None' = None, before: 'int | None' = None, limit: 'int' = 100) -> 'list[AuditEntry]'",
    "certificates": "(self, *, namespace: 'str | None' = None, run_id: 'str | None' = None, limit: 'int' = 100) "
    "-> 'list[Certificate]'",
    "issue_certificate": "(self, run_id: 'str', *, actor: 'Actor | None' = None) -> 'Certificate'",
    "checkpoint": "(self, *, key: 'KeyRing | None' = None, anchored: 'Sequence[Anchored]' = (), "
    "actor: 'Actor | None' = None) -> 'SignedCheckpoint'",
    "checkpoints": "(self, *, before: 'int | None' = None, limit: 'int' = 100) -> 'list[SignedCheckpoint]'",
    "rotate_key": "(self, *, key: 'KeyRing | None' = None, actor: 'Actor | None' = None) -> 'str'",
    "signing_keys": "(self) -> 'list[KeyPeriod]'",
    "inclusion": "(self, seq: 'int', size: 'int | None' = None) -> 'InclusionProof'",
    "consistency": "(self, old: 'int', new: 'int | None' = None) -> 'ConsistencyProof'",
    "verify": "(self, *, key: 'str | None' = None, anchored: 'Sequence[Anchored] | None' = None, "
    "events: 'bool' = True, graph: 'bool' = True, progress: 'VerifyProgress | None' = None) -> 'Verified'",
    "verify_run": (
        "(self, run_id: 'str', *, key: 'str | None' = None, anchored: 'Sequence[Anchored] | None' = None)"
        " -> 'VerifiedRun'"
    ),
    "verify_certificate": (
        "(self, certificate_id: 'str', *, key: 'str | None' = None, anchored: 'Sequence[Anchored] | None' = None)"
        " -> 'VerifiedRun'"
    ),
    "bundle": "(self, run_id: 'str') -> 'bytes'",
    "close": "(self) -> 'None'",
}

LINEAGE = {
    "verify": "(self, *, key: 'str | None' = None, anchored: 'Sequence[Anchored] | None' = None, "
    "events: 'bool' = True, graph: 'bool' = True, records: 'bool' = True, "
    "progress: 'VerifyProgress | None' = None) -> 'Verified'",
    "export": "(self, path: 'str | Path | None' = None, *, format: 'str' = 'wia-json', "
    "datasets: 'Sequence[DatasetName]' = (), direction: 'str | None' = None, depth: 'int | None' = None, "
    "as_of: 'datetime | None' = None, gzip: 'bool' = False) -> 'ExportResult'",
    "import_": "(self, path: 'str | Path', *, actor: 'Actor | None' = None) -> 'ImportResult'",
}
"""What a connection has beside: see ``client.py``."""

TRACING = {
    "trace": "(what: 'DataFrame | str', where: 'str | Column | None' = None, *, spark: 'SparkSession | None' = None, "
    "store: 'str | Store | None' = None, depth: 'int | None' = 1, output: 'str | None' = None, "
    "allow_python: 'bool' = False, trust_unsigned: 'bool' = False, verify_limit: 'int' = 1000) -> 'Trace'",
    "trace_forward": "(what: 'DataFrame | str', *, source: 'str', where: 'str | None' = None, "
    "spark: 'SparkSession | None' = None, store: 'str | Store | None' = None, output: 'str | None' = None, "
    "allow_python: 'bool' = False, trust_unsigned: 'bool' = False) -> 'ForwardTrace'",
    "why_not": "(what: 'DataFrame | str', *, source: 'str', where: 'str', spark: 'SparkSession | None' = None, "
    "store: 'str | Store | None' = None, output: 'str | None' = None, allow_python: 'bool' = False, "
    "trust_unsigned: 'bool' = False) -> 'WhyNot'",
}

WATCH = {
    "enable": "(spark: 'SparkSession', *, store: 'str | Store | None' = None, url: 'str | None' = None, "
    "sink: 'str | Sequence[str] | None' = None, namespace: 'str | None' = None, job: 'str | None' = None, "
    "api_key: 'str | None' = None, telemetry: 'bool' = True, leave_out: 'Sequence[str]' = (), "
    "quality: 'bool | Sequence[str]' = False, rows: 'str' = 'key', rows_location: 'str | None' = None, "
    "rows_sample: 'float' = 0.01, checksums: 'str' = 'files', literals: 'str | None' = None, "
    "spool: 'str | Path | None' = None, capture_key: 'str | Path | None' = None) -> 'None'",
    "disable": "(spark: 'SparkSession | None' = None) -> 'None'",
    "flush": "(timeout: 'float' = 30.0) -> 'bool'",
    "run": "(job: 'str', *, partition: 'str | None' = None, telemetry: 'bool' = True, "
    "leave_out: 'Sequence[str]' = (), quality: 'bool | Sequence[str]' = False, rows: 'str | None' = None, "
    "rows_location: 'str | None' = None, rows_sample: 'float' = 0.01, checksums: 'str | None' = None, "
    "literals: 'str | None' = None, "
    "ledger: 'bool' = False, expectations: 'Sequence[Expectation]' = (), purpose: 'str | None' = None, "
    "legal_basis: 'str | None' = None, retention_period: 'str | None' = None, sensitivity: 'str | None' = None) "
    "-> 'Iterator[str | None]'",
    "expect": "(measure: 'str', *, at_least: 'float | None' = None, at_most: 'float | None' = None, "
    "materiality: 'str' = 'MATERIAL', name: 'str | None' = None) -> 'Expectation'",
}

QUALITY = (
    "(df: 'DataFrame', rules: 'Sequence[Rule]', *, dataset: 'str | Dataset | None' = None, "
    "store: 'str | Store | None' = None, job: 'str | None' = None, namespace: 'str | None' = None, "
    "strict: 'bool' = False) -> 'QualityCheck'"
)
RULES = {
    "not_null": "(column: 'str', *, name: 'str | None' = None) -> 'Rule'",
    "unique": "(*columns: 'str', name: 'str | None' = None) -> 'Rule'",
    "in_range": "(column: 'str', low: 'Bound | None' = None, high: 'Bound | None' = None, *, "
    "name: 'str | None' = None) -> 'Rule'",
    "pattern": "(column: 'str', regex: 'str', *, name: 'str | None' = None) -> 'Rule'",
    "custom": "(name: 'str', condition: 'str') -> 'Rule'",
    "fresh": "(column: 'str', within: 'timedelta', *, name: 'str | None' = None) -> 'Rule'",
}

TREE = """
HeadwaterError
├── EventRefused
├── ProvenanceInvalid
├── PlanUnreadable
├── QueryError
│   ├── UnknownDataset
│   ├── AmbiguousDataset
│   ├── UnknownColumn
│   ├── UnknownPartition
│   ├── UnknownRun
│   ├── UnknownRoot
│   ├── NoEvidence
│   ├── UnknownJob
│   ├── UnknownEvent
│   └── ConditionRefused
├── RowsError
│   ├── RowsRefused
│   ├── NotReplayable
│   ├── InputsChanged
│   ├── KeptPlanRefused
│   │   └── SignatureRefused
│   ├── PythonNotAllowed
│   └── LayoutInvalid
├── EngineError
│   ├── PathNotAllowed
│   ├── SqlRefused
│   ├── SqlInvalid
│   └── EngineFailed
├── QualityError
│   └── RulesBroken
├── PipelineError
│   ├── PipelineInvalid
│   ├── PipelineFailed
│   ├── PipelineCancelled
│   ├── OptionInvalid
│   └── MismatchRefused
├── AssuranceError
│   ├── NoteInvalid
│   ├── KeyUnusable
│   ├── UnknownCaptureKey
│   ├── AnchorUnusable
│   └── EvidenceBroken
├── AccessError
│   ├── NotAuthenticated
│   ├── NotPermitted
│   ├── NamespaceRefused
│   ├── OriginRefused
│   ├── ProxyRefused
│   ├── RateExceeded
│   ├── UnknownAccessKey
│   ├── AccessKeyInvalid
│   ├── LastAdminKey
│   └── BindRefused
├── RecordsError
│   ├── ArchiveMoved
│   └── ArchiveUnusable
├── ExchangeError
│   ├── FileRefused
│   ├── FormatTooNew
│   └── GraphInvalid
│       ├── IdNotUnique
│       ├── ReferenceDangling
│       ├── TimestampInvalid
│       ├── FieldMissing
│       ├── GraphCyclic
│       ├── NamespaceInvalid
│       └── StructureInvalid
├── StoreError
│   ├── StoreUrlInvalid
│   ├── StoreMissing
│   ├── StoreUnavailable
│   │   └── StoreFull
│   ├── StoreReadOnly
│   ├── StoreNotOurs
│   ├── StoreOutdated
│   ├── StoreTooNew
│   └── AuditBroken
└── RemoteError
    ├── NotOffered
    ├── RequestRefused
    └── AnswerUnreadable
"""


def test_the_exports_of_the_package() -> None:
    assert headwater.__all__ == [
        *("Column", "Dataset", "Expectation", "HeadwaterError", "Job", "LineageOptions", "Partition", "Pipeline"),
        *("connect", "disable", "enable", "expect", "flush", "quality", "rules", "run"),
        *("trace", "trace_forward", "why_not"),
    ]
    for name in headwater.__all__:
        assert getattr(headwater, name) is not None
    visible = {name for name in vars(headwater) if not name.startswith("_")}
    submodules = {name for name, value in vars(headwater).items() if inspect.ismodule(value)}
    assert visible - submodules == {*headwater.__all__} - {"rules"} | {"TYPE_CHECKING", "Any", "annotations"}


def test_the_methods_of_a_store() -> None:
    members = {**vars(StoreProofs), **vars(ProvenanceMethods), **vars(Store)}
    public = {name: value for name, value in members.items() if callable(value) and not name.startswith("_")}
    public["__init__"] = Store.__init__
    assert {name: str(inspect.signature(method)) for name, method in public.items()} == STORE


def test_the_other_methods_of_a_connection() -> None:
    public = {name: value for name, value in vars(Lineage).items() if callable(value) and not name.startswith("_")}
    assert {name: str(inspect.signature(method)) for name, method in public.items()} == LINEAGE


def test_the_capture() -> None:
    assert {name: str(inspect.signature(getattr(headwater, name))) for name in WATCH} == WATCH


def test_row_queries() -> None:
    assert {name: str(inspect.signature(getattr(headwater, name))) for name in TRACING} == TRACING


def test_quality_and_its_rules() -> None:
    assert str(inspect.signature(headwater.quality)) == QUALITY
    made = set(headwater.rules.__all__) - {"Rule"}
    assert {name: str(inspect.signature(getattr(headwater.rules, name))) for name in made} == RULES


def test_connect() -> None:
    assert str(inspect.signature(headwater.connect)) == (
        "(url: 'str' = 'sqlite:///.headwater/lineage.db', *, api_key: 'str | None' = None, **options: 'Any') "
        "-> 'Lineage'"
    )
    with headwater.connect("memory://") as lin:
        assert isinstance(lin, Store)
        assert lin.datasets() == []


def test_the_error_tree() -> None:
    """As the docstring of headwater.errors shows it, as the classes are, and as listed here."""
    drawn = [line.rstrip() for line in (errors.__doc__ or "").splitlines() if "Error" in line or "──" in line]
    names = [line.strip(" │├└─").split()[0] for line in drawn if not line.startswith(("Every", "The"))]
    assert [line.strip(" │├└─") for line in TREE.split("\n") if line] == names
    assert grow(errors.HeadwaterError) == TREE.strip().split("\n")


def grow(kind: type[Exception], indent: str = "", mark: str = "") -> list[str]:
    lines = [f"{indent}{mark}{kind.__name__}"]
    deeper = indent + {"": "", "├── ": "│   ", "└── ": "    "}[mark]
    drawn = [line.strip(" │├└─") for line in TREE.split("\n")]
    ours = [child for child in kind.__subclasses__() if child.__module__.startswith(f"{errors.__name__}.")]
    children = sorted(ours, key=lambda child: drawn.index(child.__name__) if child.__name__ in drawn else len(drawn))
    for child in children:
        lines += grow(child, deeper, "└── " if child is children[-1] else "├── ")
    return lines


def test_every_error_is_exported() -> None:
    defined = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert set(errors.__all__) == defined
    assert all(issubclass(getattr(errors, name), headwater.HeadwaterError) for name in defined)
