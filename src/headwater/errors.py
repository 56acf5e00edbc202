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
    └── StoreError              the database behind the store
        ├── StoreUrlInvalid     the URL is invalid
        ├── StoreMissing        there is no store at the URL
        ├── StoreUnavailable    the database does not respond
        │   └── StoreFull       the disk or the quota of the database is full
        ├── StoreReadOnly       the database is read-only
        ├── StoreNotOurs        the database is not a Headwater store
        ├── StoreOutdated       older than this code: `headwater db upgrade`
        ├── StoreTooNew         newer than this code: upgrade Headwater
        └── AuditBroken         the audit log fails verification; names the first failing entry

The command line prints ``str(error)`` as one line, so a message names the culprit and what exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "AccessError",
    "AccessKeyInvalid",
    "AmbiguousDataset",
    "AnchorUnusable",
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

_MAX_NAME_LENGTH = 120
_MAX_PATH_STEPS = 20


def shorten(text: str) -> str:
    """Return a name for a one-line message: control characters escaped, the middle of a long name elided."""
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    if len(printable) <= _MAX_NAME_LENGTH:
        return printable
    keep = _MAX_NAME_LENGTH // 2 - 1
    return f"{printable[:keep]}…{printable[-keep:]}"


def _listing(label: str, names: Sequence[str], empty: str) -> str:
    return f"{label}: {', '.join(shorten(n) for n in names)}." if names else empty


class HeadwaterError(Exception):
    """Base class of every error that Headwater raises."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The default pickles the message alone, but most of these constructors take other arguments.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[HeadwaterError], args: tuple[Any, ...], attributes: dict[str, Any]) -> HeadwaterError:
    """Rebuild a pickled error, such as one raised in another process."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class EventRefused(HeadwaterError):
    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"Event refused at {shorten(path)}: {reason}")


class ProvenanceInvalid(HeadwaterError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"Provenance refused: {reason}.")


class PlanUnreadable(HeadwaterError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The Spark plan cannot be read: {reason}")


class QueryError(HeadwaterError):
    """A query cannot be answered."""


class UnknownDataset(QueryError):
    def __init__(self, asked: str, closest: Sequence[str]) -> None:
        self.asked = asked
        self.closest = tuple(closest)
        hint = _listing("Closest", closest, "The store holds no datasets yet.")
        super().__init__(f"Dataset '{shorten(asked)}' is not known. {hint}")


class AmbiguousDataset(QueryError):
    def __init__(self, asked: str, candidates: Sequence[str]) -> None:
        self.asked = asked
        self.candidates = tuple(candidates)
        super().__init__(
            f"'{shorten(asked)}' matches {len(candidates)} datasets. Add the namespace. "
            + _listing("Candidates", candidates, "")
        )


class UnknownColumn(QueryError):
    def __init__(self, asked: str, dataset: str, columns: Sequence[str]) -> None:
        self.asked = asked
        self.columns = tuple(columns)
        hint = _listing("Columns", columns, "No columns are recorded for it.")
        super().__init__(f"Column '{shorten(asked)}' is not in {shorten(dataset)}. {hint}")


class UnknownPartition(QueryError):
    def __init__(self, asked: str, dataset: str, partitions: Sequence[str]) -> None:
        self.asked = asked
        self.partitions = tuple(partitions)
        hint = _listing("Latest partitions", partitions, "No partitions are recorded for it.")
        super().__init__(f"Partition '{shorten(asked)}' is not in {shorten(dataset)}. {hint}")


class UnknownRun(QueryError):
    def __init__(self, asked: str, closest: Sequence[str]) -> None:
        self.asked = asked
        self.closest = tuple(closest)
        hint = _listing("Closest", closest, "The store holds no runs yet.")
        super().__init__(f"Run '{shorten(asked)}' is not known. {hint}")


class UnknownRoot(QueryError):
    def __init__(self, asked: str, closest: Sequence[str]) -> None:
        self.asked = asked
        self.closest = tuple(closest)
        hint = _listing("Closest", closest, "The store holds no records yet.")
        super().__init__(f"Root '{shorten(asked)}' is not known. {hint}")


class NoEvidence(QueryError):
    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(f"The store has no evidence of run '{shorten(run_id)}'.")


class UnknownJob(QueryError):
    def __init__(self, asked: str, closest: Sequence[str]) -> None:
        self.asked = asked
        self.closest = tuple(closest)
        hint = _listing("Closest", closest, "The store holds no jobs yet.")
        super().__init__(f"Job '{shorten(asked)}' is not known. {hint}")


class UnknownEvent(QueryError):
    def __init__(self, asked: str) -> None:
        self.asked = asked
        super().__init__(f"There is no event with the digest '{shorten(asked)}'.")


class ConditionRefused(QueryError):
    """``culprit`` is the part of the condition that is refused, if it is one part."""

    def __init__(self, reason: str, culprit: str | None = None) -> None:
        self.reason = reason
        self.culprit = culprit
        named = "" if culprit is None else f" ({shorten(culprit)})"
        super().__init__(f"The condition is refused{named}. {reason}")


class RowsError(HeadwaterError):
    """A row query cannot be answered."""


class RowsRefused(RowsError):
    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(f"Rows cannot be traced through this plan: {'; '.join(shorten(reason) for reason in reasons)}")


class NotReplayable(RowsError):
    def __init__(self, needs: Sequence[str]) -> None:
        self.needs = tuple(needs)
        super().__init__(f"The run cannot be replayed: {'; '.join(needs)}")


class InputsChanged(RowsError):
    """``changes`` names some of the changed inputs; ``count`` is the number of all of them."""

    def __init__(self, changes: Sequence[str], count: int) -> None:
        self.changes = tuple(changes)
        self.count = count
        more = f"; and {count - len(changes)} more" if count > len(changes) else ""
        super().__init__(f"Inputs of the run have changed since: {'; '.join(changes)}{more}")


class KeptPlanRefused(RowsError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The stored plan is refused: {reason}")


class SignatureRefused(KeptPlanRefused):
    """No trusted key signed a stored plan, so it is not deserialized. ``key`` is the key that did sign, if any."""

    def __init__(self, reason: str, key: str | None = None) -> None:
        self.key = key
        super().__init__(reason)


class PythonNotAllowed(RowsError):
    def __init__(self, functions: Sequence[str]) -> None:
        self.functions = tuple(functions)
        named = f" ({', '.join(shorten(name) for name in functions)})" if functions else ""
        super().__init__(
            f"The plan contains Python functions{named}, which a replay executes. Pass allow_python=True if "
            "you trust the author of the job."
        )


class LayoutInvalid(RowsError):
    """``field`` is the path to the invalid value, like `sources[0].occurrence`."""

    def __init__(self, field: str, reason: str) -> None:
        self.field = field
        self.reason = reason
        super().__init__(f"The description of the pair tables is refused at {shorten(field)}: {reason}.")


class EngineError(HeadwaterError):
    """An engine that runs SQL on rows failed or refused."""


class PathNotAllowed(EngineError):
    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{shorten(path)} may not be read: {reason}.")


class SqlRefused(EngineError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The SQL is refused: {reason}.")


class SqlInvalid(EngineError):
    pass


class EngineFailed(EngineError):
    pass


class QualityError(HeadwaterError):
    """Quality cannot be measured."""


class RulesBroken(QualityError):
    """``broken``: name of each violated rule, with the number of rows that violate it."""

    def __init__(self, broken: Sequence[tuple[str, int]]) -> None:
        self.broken = tuple(broken)
        violations = "; ".join(f"{shorten(name)} by {count:,}" for name, count in broken)
        super().__init__(f"Quality rules are violated: {violations}.")


class PipelineError(HeadwaterError):
    """A declared pipeline is invalid or failed."""


class PipelineInvalid(PipelineError):
    """``node`` is None if the error concerns the pipeline as a whole."""

    def __init__(self, pipeline: str, node: str | None, reason: str) -> None:
        self.pipeline = pipeline
        self.node = node
        self.reason = reason
        where = "" if node is None else f", node '{shorten(node)}'"
        super().__init__(f"Pipeline '{shorten(pipeline)}'{where}: {reason}")


class PipelineFailed(PipelineError):
    def __init__(self, pipeline: str, node: str, reason: str) -> None:
        self.pipeline = pipeline
        self.node = node
        self.reason = reason
        super().__init__(f"Pipeline '{shorten(pipeline)}' failed at node '{shorten(node)}': {reason}")


class PipelineCancelled(PipelineError):
    def __init__(self, pipeline: str, node: str) -> None:
        self.pipeline = pipeline
        self.node = node
        super().__init__(f"Pipeline '{shorten(pipeline)}' was cancelled at node '{shorten(node)}'.")


class OptionInvalid(PipelineError):
    def __init__(self, option: str, value: object, expected: str) -> None:
        self.option = option
        self.value = value
        super().__init__(f"Lineage option '{shorten(option)}' is {shorten(repr(value))}: {expected}.")


class MismatchRefused(PipelineError):
    def __init__(self, node: str, reason: str) -> None:
        self.node = node
        self.reason = reason
        super().__init__(f"Items are not accounted for: {reason}.")


class AssuranceError(HeadwaterError):
    """A key, an anchor or a proof is unusable or wrong."""


class NoteInvalid(AssuranceError):
    pass


class KeyUnusable(AssuranceError):
    pass


class UnknownCaptureKey(AssuranceError):
    def __init__(self, asked: str, known: Sequence[str]) -> None:
        self.asked = asked
        self.known = tuple(known)
        hint = _listing("Trusted", known, "The store trusts no capture key.")
        super().__init__(f"Capture key '{shorten(asked)}' is not trusted. {hint}")


class AnchorUnusable(AssuranceError):
    pass


class EvidenceBroken(AssuranceError):
    """``what`` is the first thing that fails verification."""

    def __init__(self, what: str, reason: str) -> None:
        self.what = what
        self.reason = reason
        super().__init__(f"{shorten(what)} does not hold: {reason}")


class AccessError(HeadwaterError):
    """The HTTP server refuses access."""


class NotAuthenticated(AccessError):
    """The message does not say whether a key is unknown, revoked or expired: that would help someone who guesses."""

    def __init__(self) -> None:
        super().__init__("Send a valid access key: `Authorization: Bearer hw_…`.")


class NotPermitted(AccessError):
    def __init__(self, scope: str, *, whole: bool = False) -> None:
        self.scope = scope
        also = ", for all namespaces" if whole else ""
        super().__init__(f"This requires a key with the scope '{scope}'{also}.")


class NamespaceRefused(AccessError):
    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = tuple(patterns)
        super().__init__("The key is limited to " + _listing("namespaces", patterns, "no namespace at all."))


class OriginRefused(AccessError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"A session is valid only for this server's own page: {reason}.")


class ProxyRefused(AccessError):
    def __init__(self, header: str) -> None:
        self.header = header
        super().__init__(
            f"The request came through a proxy ({header}), and a server without access keys takes only local requests. "
            "Create a key with `headwater access add`."
        )


class RateExceeded(AccessError):
    def __init__(self, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(f"Too many requests with this key. Retry in {retry_after:.0f} s.")


class UnknownAccessKey(AccessError):
    def __init__(self, asked: str, known: Sequence[str]) -> None:
        self.asked = asked
        self.known = tuple(known)
        hint = _listing("Keys", known, "The store has none yet: `headwater access add` creates one.")
        super().__init__(f"Access key '{shorten(asked)}' is not known. {hint}")


class AccessKeyInvalid(AccessError):
    pass


class LastAdminKey(AccessError):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"'{shorten(name)}' is the last key that can manage keys; without it, no key can be created over HTTP. "
            "Create a second admin key first, or revoke this one with `headwater access revoke`."
        )


class BindRefused(AccessError):
    def __init__(self, host: str) -> None:
        self.host = host
        super().__init__(
            f"'{shorten(host)}' can be reached from other machines, and the store has no valid access key. "
            "Create one with `headwater access add`, or serve on 127.0.0.1."
        )


class RecordsError(HeadwaterError):
    """The record ledger or its archive failed."""


class ArchiveMoved(RecordsError):
    def __init__(self, compaction: str) -> None:
        self.compaction = compaction
        super().__init__(f"Compaction {compaction} cannot be committed: another compaction committed first.")


class ArchiveUnusable(RecordsError):
    pass


class ExchangeError(HeadwaterError):
    """A lineage file is invalid or cannot be read."""


class FileRefused(ExchangeError):
    """``place`` is the line, element or byte, as precisely as it is known."""

    def __init__(self, file: str, place: str | None, reason: str) -> None:
        self.file = file
        self.place = place
        self.reason = reason
        where = "" if place is None else f", {place}"
        super().__init__(f"{shorten(file)}{where}: {shorten(reason)}.")


class FormatTooNew(ExchangeError):
    def __init__(self, file: str, version: str, known: str) -> None:
        self.version = version
        super().__init__(
            f"{shorten(file)} has format version {shorten(version)}; this Headwater reads {known} and later minor "
            "versions. Upgrade Headwater."
        )


class GraphInvalid(ExchangeError):
    """``rule`` is the name of the violated rule, ``element`` the element that violates it, like `edge c3d4e5f6-…`."""

    rule = "structure"

    def __init__(self, element: str, reason: str) -> None:
        self.element = element
        self.reason = reason
        super().__init__(f"{shorten(element)} breaks the rule '{self.rule}': {reason}.")


class IdNotUnique(GraphInvalid):
    rule = "uniqueness"


class ReferenceDangling(GraphInvalid):
    rule = "referential integrity"


class TimestampInvalid(GraphInvalid):
    rule = "timestamps"


class FieldMissing(GraphInvalid):
    rule = "required fields"


class GraphCyclic(GraphInvalid):
    """``path`` starts and ends with the same node."""

    rule = "acyclic"

    def __init__(self, element: str, path: Sequence[str]) -> None:
        self.path = tuple(path)
        super().__init__(element, f"it leads back to itself: {_path(path)}")


def _path(path: Sequence[str]) -> str:
    if len(path) <= _MAX_PATH_STEPS:
        return " → ".join(map(shorten, path))
    half = _MAX_PATH_STEPS // 2
    shown = [*map(shorten, path[:half]), f"… {len(path) - 2 * half} more …", *map(shorten, path[-half:])]
    return " → ".join(shown)


class NamespaceInvalid(GraphInvalid):
    rule = "namespace format"


class StructureInvalid(GraphInvalid):
    pass


class StoreError(HeadwaterError):
    """The database of the store is missing, unusable or damaged."""


class StoreUrlInvalid(StoreError):
    pass


class StoreMissing(StoreError):
    pass


class StoreUnavailable(StoreError):
    pass


class StoreFull(StoreUnavailable):
    pass


class StoreReadOnly(StoreError):
    pass


class StoreNotOurs(StoreError):
    pass


class StoreOutdated(StoreError):
    pass


class StoreTooNew(StoreError):
    pass


class AuditBroken(StoreError):
    def __init__(self, seq: int, reason: str) -> None:
        self.seq = seq
        self.reason = reason
        super().__init__(f"The audit log does not hold at entry {seq}: {reason}")
