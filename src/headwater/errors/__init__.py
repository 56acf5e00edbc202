"""Every error Headwater raises, one tree.

    HeadwaterError
    ├── EventRefused            an event is not accepted; names the JSON path and the reason
    ├── ProvenanceInvalid       a provenance statement is invalid; names the field
    ├── PlanUnreadable          the JSON of a Spark plan cannot be parsed; names the reason
    ├── QueryError              a query cannot be answered
    │   ├── UnknownDataset      lists the closest names
    │   ├── AmbiguousDataset    lists the datasets that the short name matches
    │   ├── UnknownColumn       lists the columns that exist
    │   ├── UnknownPartition    lists the partitions that exist
    │   ├── UnknownRun          lists the closest run ids
    │   ├── UnknownRoot         lists the closest root records
    │   ├── NoEvidence          the store has nothing about the run to prove
    │   ├── UnknownJob          lists the closest jobs
    │   ├── UnknownEvent        no event has this digest
    │   └── ConditionRefused    a condition on rows contains something not allowed; names it
    ├── RowsError               a row query cannot be answered
    │   ├── RowsRefused         rows cannot be traced through the plan; names each operator
    │   ├── NotReplayable       the stored query cannot be run again; names what is missing
    │   ├── InputsChanged       inputs of the run have changed since; names them
    │   ├── KeptPlanRefused     a stored plan differs from its record, or holds what no plan holds
    │   │   └── SignatureRefused    no trusted key signed it; names the run and the key
    │   ├── PythonNotAllowed    the plan contains Python code, and the caller did not allow it
    │   └── LayoutInvalid       a description of pair tables is invalid; names the field
    ├── EngineError             an engine that runs SQL on rows
    │   ├── PathNotAllowed      a file or folder may not be read; names it
    │   ├── SqlRefused          a statement is refused before it runs
    │   ├── SqlInvalid          the engine rejects a statement: unknown columns, wrong types
    │   └── EngineFailed        a file cannot be read, or memory or disk run out
    ├── QualityError            quality cannot be measured; names the rule or the column
    │   └── RulesBroken         rules are violated, and the check is strict; names them
    ├── PipelineError           a declared pipeline
    │   ├── PipelineInvalid     the declaration cannot be run; names the node
    │   ├── PipelineFailed      a node failed on an item, or as a whole; names the node
    │   ├── PipelineCancelled   the run was cancelled; names the node it had reached
    │   ├── OptionInvalid       a lineage option has an invalid value; names the valid ones
    │   └── MismatchRefused     item counts do not add up, and the options are strict; names the node
    ├── AssuranceError          keys, anchors and proofs
    │   ├── NoteInvalid         a checkpoint, a signed note or a public key cannot be parsed
    │   ├── KeyUnusable         the signing key is missing, unreadable or wrong; names the file
    │   ├── UnknownCaptureKey   lists the trusted keys
    │   ├── AnchorUnusable      an anchor cannot be read or written, or holds another log; names it
    │   └── EvidenceBroken      a checkpoint, certificate, tile or event fails verification; names it
    ├── AccessError             access to the HTTP server
    │   ├── NotAuthenticated    no valid access key
    │   ├── NotPermitted        the key lacks a scope
    │   ├── NamespaceRefused    an event names a namespace outside the key's; lists the key's
    │   ├── OriginRefused       the browser sent the request from a page of another site
    │   ├── ProxyRefused        the request came through a proxy to a server without keys
    │   ├── RateExceeded        too many requests; says when to retry
    │   ├── UnknownAccessKey    lists the existing keys
    │   ├── AccessKeyInvalid    a key cannot be created with these values
    │   ├── LastAdminKey        the last key that can manage keys is not revoked over HTTP
    │   └── BindRefused         without keys, not on an address that other machines reach
    ├── RecordsError            the record ledger and its archive
    │   ├── ArchiveMoved        another commit came first; retry from the new archive state
    │   └── ArchiveUnusable     the archive is missing, unreadable, unwritable or damaged; names what
    ├── ExchangeError           export, import and validation of lineage files
    │   ├── FileRefused         a file cannot be read as lineage; names the place and the reason
    │   ├── FormatTooNew        a file has a newer major format version than this code supports
    │   └── GraphInvalid        a graph breaks a rule of its format; names the element and the rule
    │       ├── IdNotUnique     two elements have the same id
    │       ├── ReferenceDangling   an edge or an annotation refers to no node
    │       ├── TimestampInvalid    not an ISO 8601 time in UTC
    │       ├── FieldMissing    a required field
    │       ├── GraphCyclic     a cycle; lists its path
    │       ├── NamespaceInvalid    not a URI
    │       └── StructureInvalid    a value of the wrong type, or not an allowed one
    ├── StoreError              the database behind the store
    │   ├── StoreUrlInvalid     the URL is invalid
    │   ├── StoreMissing        there is no store at the URL
    │   ├── StoreUnavailable    the database does not respond
    │   │   └── StoreFull       the disk or the quota of the database is full
    │   ├── StoreReadOnly       the database is read-only
    │   ├── StoreNotOurs        the database is not a Headwater store
    │   ├── StoreOutdated       older than this code: `headwater db upgrade`
    │   ├── StoreTooNew         newer than this code: upgrade Headwater
    │   └── AuditBroken         the audit log fails verification; names the first failing entry
    └── RemoteError             a Headwater server that is used as a store over HTTP
        ├── NotOffered          the server has no route for this; names the method
        ├── RequestRefused      the server refuses the request or fails; names the problem's code
        └── AnswerUnreadable    the answer has an unknown shape; names the field and the server's version

The command line prints ``str(error)`` as one line, so a message names the culprit and what exists.
"""

from __future__ import annotations

from headwater.errors.access import (
    AccessError,
    AccessKeyInvalid,
    AnchorUnusable,
    AssuranceError,
    BindRefused,
    EvidenceBroken,
    KeyUnusable,
    LastAdminKey,
    NamespaceRefused,
    NotAuthenticated,
    NoteInvalid,
    NotPermitted,
    OriginRefused,
    ProxyRefused,
    RateExceeded,
    UnknownAccessKey,
    UnknownCaptureKey,
)
from headwater.errors.base import (
    HeadwaterError,
)
from headwater.errors.base import first_line as first_line
from headwater.errors.base import shorten as shorten
from headwater.errors.exchange import (
    ArchiveMoved,
    ArchiveUnusable,
    ExchangeError,
    FieldMissing,
    FileRefused,
    FormatTooNew,
    GraphCyclic,
    GraphInvalid,
    IdNotUnique,
    NamespaceInvalid,
    RecordsError,
    ReferenceDangling,
    StructureInvalid,
    TimestampInvalid,
)
from headwater.errors.pipeline import (
    MismatchRefused,
    OptionInvalid,
    PipelineCancelled,
    PipelineError,
    PipelineFailed,
    PipelineInvalid,
    QualityError,
    RulesBroken,
)
from headwater.errors.query import (
    AmbiguousDataset,
    ConditionRefused,
    EventRefused,
    NoEvidence,
    PlanUnreadable,
    ProvenanceInvalid,
    QueryError,
    UnknownColumn,
    UnknownDataset,
    UnknownEvent,
    UnknownJob,
    UnknownPartition,
    UnknownRoot,
    UnknownRun,
)
from headwater.errors.remote import (
    AnswerUnreadable,
    NotOffered,
    RemoteError,
    RequestRefused,
)
from headwater.errors.rows import (
    EngineError,
    EngineFailed,
    InputsChanged,
    KeptPlanRefused,
    LayoutInvalid,
    NotReplayable,
    PathNotAllowed,
    PythonNotAllowed,
    RowsError,
    RowsRefused,
    SignatureRefused,
    SqlInvalid,
    SqlRefused,
)
from headwater.errors.store import (
    AuditBroken,
    StoreError,
    StoreFull,
    StoreMissing,
    StoreNotOurs,
    StoreOutdated,
    StoreReadOnly,
    StoreTooNew,
    StoreUnavailable,
    StoreUrlInvalid,
)

__all__ = [
    "AccessError",
    "AccessKeyInvalid",
    "AmbiguousDataset",
    "AnchorUnusable",
    "AnswerUnreadable",
    "ArchiveMoved",
    "ArchiveUnusable",
    "AssuranceError",
    "AuditBroken",
    "BindRefused",
    "ConditionRefused",
    "EngineError",
    "EngineFailed",
    "EventRefused",
    "EvidenceBroken",
    "ExchangeError",
    "FieldMissing",
    "FileRefused",
    "FormatTooNew",
    "GraphCyclic",
    "GraphInvalid",
    "HeadwaterError",
    "IdNotUnique",
    "InputsChanged",
    "KeptPlanRefused",
    "KeyUnusable",
    "LastAdminKey",
    "LayoutInvalid",
    "MismatchRefused",
    "NamespaceInvalid",
    "NamespaceRefused",
    "NoEvidence",
    "NotAuthenticated",
    "NotOffered",
    "NotPermitted",
    "NotReplayable",
    "NoteInvalid",
    "OptionInvalid",
    "OriginRefused",
    "PathNotAllowed",
    "PipelineCancelled",
    "PipelineError",
    "PipelineFailed",
    "PipelineInvalid",
    "PlanUnreadable",
    "ProvenanceInvalid",
    "ProxyRefused",
    "PythonNotAllowed",
    "QualityError",
    "QueryError",
    "RateExceeded",
    "RecordsError",
    "ReferenceDangling",
    "RemoteError",
    "RequestRefused",
    "RowsError",
    "RowsRefused",
    "RulesBroken",
    "SignatureRefused",
    "SqlInvalid",
    "SqlRefused",
    "StoreError",
    "StoreFull",
    "StoreMissing",
    "StoreNotOurs",
    "StoreOutdated",
    "StoreReadOnly",
    "StoreTooNew",
    "StoreUnavailable",
    "StoreUrlInvalid",
    "StructureInvalid",
    "TimestampInvalid",
    "UnknownAccessKey",
    "UnknownCaptureKey",
    "UnknownColumn",
    "UnknownDataset",
    "UnknownEvent",
    "UnknownJob",
    "UnknownPartition",
    "UnknownRoot",
    "UnknownRun",
]
