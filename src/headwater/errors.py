"""Every error Headwater raises, one tree.

    HeadwaterError
    ├── EventRefused            an event cannot be taken; names the JSON path and the reason
    ├── ProvenanceInvalid       a statement of provenance is none that there can be; names the field
    ├── PlanUnreadable          a Spark plan's JSON is not what Spark writes; names what is wrong
    ├── QueryError              the question cannot be answered as asked
    │   ├── UnknownDataset      lists the closest names
    │   ├── AmbiguousDataset    lists the datasets the short name fits
    │   ├── UnknownColumn       lists the columns that exist
    │   ├── UnknownPartition    lists the partitions that exist
    │   ├── UnknownRun          lists the closest run ids
    │   ├── UnknownRoot         lists the closest roots of records
    │   ├── NoEvidence          there is nothing of the run that could be proven
    │   ├── UnknownJob          lists the closest jobs
    │   ├── UnknownEvent        no event has this digest
    │   └── ConditionRefused    a condition on rows holds what is not allowed in one; names the culprit
    ├── RowsError               a question about rows cannot be answered
    │   ├── RowsRefused         the plan does what cannot be traced; names each operator
    │   ├── NotReplayable       the run cannot be run again from what was kept; names what is needed
    │   ├── InputsChanged       what the run read is not there any more as it was; names what changed
    │   ├── KeptPlanRefused     a kept plan is not what was recorded, or holds what no plan holds
    │   │   └── SignatureRefused    no trusted key has signed it; names the run and the key
    │   ├── PythonNotAllowed    the plan holds Python code, and the reader has not said that it may run
    │   └── LayoutInvalid       a description of pair tables is not one that we write; names the field
    ├── EngineError             an engine that runs SQL on rows
    │   ├── PathNotAllowed      a file or folder that may not be read; names it
    │   ├── SqlRefused          a statement is refused before it runs
    │   ├── SqlInvalid          the engine rejects a statement: unknown columns, wrong types
    │   └── EngineFailed        a file cannot be read, or memory or disk do not suffice
    ├── QualityError            quality cannot be measured as asked; names the rule or the column
    │   └── RulesBroken         rules are broken, and the check is strict; names them
    ├── PipelineError           a declared pipeline
    │   ├── PipelineInvalid     it cannot be run as it is declared; names the node
    │   ├── PipelineFailed      a node failed on an item, or as a whole; names the node
    │   ├── PipelineCancelled   somebody ended the run; names the node it had come to
    │   ├── OptionInvalid       a lineage option has a value it cannot have; names what it can
    │   └── MismatchRefused     items are not accounted for, and the options are strict; names the node
    ├── AssuranceError          keys, second places, and what they are to prove
    │   ├── NoteInvalid         a checkpoint, a signed note or a public key cannot be read as one
    │   ├── KeyUnusable         there is no key to sign with, or not the right one; names the file
    │   ├── UnknownCaptureKey   lists the trusted keys
    │   ├── AnchorUnusable      a second place cannot be read or written, or holds another log; names it
    │   └── EvidenceBroken      a checkpoint, a certificate, a tile or an event does not hold; names it
    ├── AccessError             who may come in to the HTTP server
    │   ├── NotAuthenticated    no key, or none that is good
    │   ├── NotPermitted        the key is good, but not for this
    │   ├── NamespaceRefused    an event speaks of what the key may not see; lists what it may
    │   ├── OriginRefused       a page of another site, or none of ours, made the browser ask
    │   ├── ProxyRefused        through a proxy, to a server that is open to this machine alone
    │   ├── RateExceeded        too often; says when to come again
    │   ├── UnknownAccessKey    lists the keys there are
    │   ├── AccessKeyInvalid    a key cannot be made as asked
    │   ├── LastAdminKey        the only key left that can manage keys; it is not revoked over HTTP
    │   └── BindRefused         not on an address that others reach, as long as anybody could come in
    ├── RecordsError            the record ledger and its archive
    │   ├── ArchiveMoved        another commit came first: begin again from what the archive is now
    │   └── ArchiveUnusable     the archive cannot be found, read or written, or does not hold; names what
    ├── ExchangeError           lineage in files: export, import, validate
    │   ├── FileRefused         a file cannot be read as lineage; names the place and the reason
    │   ├── FormatTooNew        a file is of a later major version of its format than this code knows
    │   └── GraphInvalid        a graph breaks a rule of its format; names the element and the rule
    │       ├── IdNotUnique     an id that another element has
    │       ├── ReferenceDangling   an edge, or what is said of a node, leads to no node
    │       ├── TimestampInvalid    no ISO 8601 time in UTC
    │       ├── FieldMissing    what every element of its kind has
    │       ├── GraphCyclic     it leads back to where it began; lists the path
    │       ├── NamespaceInvalid    no URI
    │       └── StructureInvalid    a value of another type, or not one of those that there are
    ├── StoreError              the database behind the store
    │   ├── StoreUrlInvalid     the address itself is wrong
    │   ├── StoreMissing        nothing is there
    │   ├── StoreUnavailable    it is there but does not answer, or has gone
    │   │   └── StoreFull       no space is left for it, on its disk or by its quota
    │   ├── StoreReadOnly       it answers but takes no writes
    │   ├── StoreNotOurs        it is a database, but not a Headwater store
    │   ├── StoreOutdated       older than this code: `headwater db upgrade`
    │   ├── StoreTooNew         newer than this code: upgrade Headwater
    │   └── AuditBroken         the audit log does not add up; names the first entry that fails
    └── RemoteError             a Headwater server, used as a store over HTTP
        ├── NotOffered          the server has no route for this; names the method
        ├── RequestRefused      the server refuses the request or fails; names the problem's code
        └── AnswerUnreadable    the answer has an unknown shape; names the field and the server's version

The command line prints ``str(error)`` as its one line, so a message names the culprit and what exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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

_SHOWN_NAME_LENGTH = 120
_SHOWN_STEPS = 20


def shorten(text: str) -> str:
    """A name fit for a one-line message: control characters escaped, the middle of a long one elided."""
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    if len(printable) <= _SHOWN_NAME_LENGTH:
        return printable
    keep = _SHOWN_NAME_LENGTH // 2 - 1
    return f"{printable[:keep]}…{printable[-keep:]}"


def _listing(label: str, names: Sequence[str], empty: str) -> str:
    return f"{label}: {', '.join(shorten(n) for n in names)}." if names else empty


class HeadwaterError(Exception):
    """The base of every error raised here."""

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception is pickled by its text alone, which is not what most of ours are made of.
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[HeadwaterError], args: tuple[Any, ...], known: dict[str, Any]) -> HeadwaterError:
    """An error from another process, as it was raised there."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(known)
    return error


class EventRefused(HeadwaterError):
    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"Event refused at {shorten(path)}: {reason}")


class ProvenanceInvalid(HeadwaterError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"No such provenance can be stated: {reason}.")


class PlanUnreadable(HeadwaterError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The Spark plan cannot be read: {reason}")


class QueryError(HeadwaterError):
    """A question that cannot be answered as asked."""


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
            f"'{shorten(asked)}' fits {len(candidates)} datasets; name one with its namespace. "
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
        super().__init__(f"There is no evidence of run '{shorten(run_id)}' to be shown.")


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
    """A question about rows cannot be answered."""


class RowsRefused(RowsError):
    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(f"Rows cannot be traced through this plan: {'; '.join(shorten(each) for each in reasons)}")


class NotReplayable(RowsError):
    def __init__(self, needs: Sequence[str]) -> None:
        self.needs = tuple(needs)
        super().__init__(f"The run cannot be replayed: {'; '.join(needs)}")


class InputsChanged(RowsError):
    """``changes`` names some of what changed; ``count`` is how much did."""

    def __init__(self, changes: Sequence[str], count: int) -> None:
        self.changes = tuple(changes)
        self.count = count
        more = f"; and {count - len(changes)} more" if count > len(changes) else ""
        super().__init__(f"What the run read has changed since: {'; '.join(changes)}{more}")


class KeptPlanRefused(RowsError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The kept plan is refused: {reason}")


class SignatureRefused(KeptPlanRefused):
    """No trusted key has signed a kept plan, so nothing of it is deserialized. ``key``: the one that did, if any."""

    def __init__(self, reason: str, key: str | None = None) -> None:
        self.key = key
        super().__init__(reason)


class PythonNotAllowed(RowsError):
    def __init__(self, functions: Sequence[str]) -> None:
        self.functions = tuple(functions)
        named = f" ({', '.join(shorten(name) for name in functions)})" if functions else ""
        super().__init__(
            f"The plan holds Python functions{named}, and to replay it runs them. Allow it with allow_python=True if "
            "you trust whoever ran the job."
        )


class LayoutInvalid(RowsError):
    """``field`` is the path to it, like `sources[0].occurrence`."""

    def __init__(self, field: str, reason: str) -> None:
        self.field = field
        self.reason = reason
        super().__init__(f"The description of the pair tables is refused at {shorten(field)}: {reason}.")


class EngineError(HeadwaterError):
    """Something about an engine that runs SQL on rows."""


class PathNotAllowed(EngineError):
    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{shorten(path)} is not read: {reason}.")


class SqlRefused(EngineError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The SQL is refused: {reason}.")


class SqlInvalid(EngineError):
    pass


class EngineFailed(EngineError):
    pass


class QualityError(HeadwaterError):
    """Quality cannot be measured as asked."""


class RulesBroken(QualityError):
    """``broken``: the names of the rules, each with how many rows break it."""

    def __init__(self, broken: Sequence[tuple[str, int]]) -> None:
        self.broken = tuple(broken)
        told = "; ".join(f"{shorten(name)} by {count:,}" for name, count in broken)
        super().__init__(f"Rules are broken: {told}.")


class PipelineError(HeadwaterError):
    """Something about a declared pipeline."""


class PipelineInvalid(PipelineError):
    """``node`` is None where the pipeline as a whole is wrong."""

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
    """Something about keys, second places, and what they are to prove."""


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
    """``what`` is the first thing that does not hold."""

    def __init__(self, what: str, reason: str) -> None:
        self.what = what
        self.reason = reason
        super().__init__(f"{shorten(what)} does not hold: {reason}")


class AccessError(HeadwaterError):
    """Something about who may come in to the HTTP server."""


class NotAuthenticated(AccessError):
    """Not why: whether a key is unknown, revoked or expired is nothing for whoever shows a wrong one."""

    def __init__(self) -> None:
        super().__init__("Show a key that is good: `Authorization: Bearer hw_…`.")


class NotPermitted(AccessError):
    def __init__(self, scope: str, *, whole: bool = False) -> None:
        self.scope = scope
        also = ", for all namespaces" if whole else ""
        super().__init__(f"This takes a key with the scope '{scope}'{also}.")


class NamespaceRefused(AccessError):
    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = tuple(patterns)
        super().__init__("The key may only speak of " + _listing("namespaces", patterns, "no namespace at all."))


class OriginRefused(AccessError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"A session is only good for this server's own page: {reason}.")


class ProxyRefused(AccessError):
    def __init__(self, header: str) -> None:
        self.header = header
        super().__init__(
            f"The request came through a proxy ({header}), and without keys the server is for this machine alone: "
            "make one with `headwater access add`."
        )


class RateExceeded(AccessError):
    def __init__(self, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(f"Too many requests with this key. Come again in {retry_after:.0f} s.")


class UnknownAccessKey(AccessError):
    def __init__(self, asked: str, known: Sequence[str]) -> None:
        self.asked = asked
        self.known = tuple(known)
        hint = _listing("Keys", known, "There are none yet: `headwater access add` makes one.")
        super().__init__(f"Access key '{shorten(asked)}' is not known. {hint}")


class AccessKeyInvalid(AccessError):
    pass


class LastAdminKey(AccessError):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"'{shorten(name)}' is the last key that can manage keys: without it nobody could make another over HTTP. "
            "Make a second admin key first, or revoke this one on the store itself: `headwater access revoke`."
        )


class BindRefused(AccessError):
    def __init__(self, host: str) -> None:
        self.host = host
        super().__init__(
            f"'{shorten(host)}' can be reached by others, and the store has no key that is good: anybody could come "
            "in. Make one with `headwater access add`, or serve on 127.0.0.1."
        )


class RecordsError(HeadwaterError):
    """Something about the record ledger and its archive."""


class ArchiveMoved(RecordsError):
    def __init__(self, compaction: str) -> None:
        self.compaction = compaction
        super().__init__(f"Compaction {compaction} cannot be committed: another one came first.")


class ArchiveUnusable(RecordsError):
    pass


class ExchangeError(HeadwaterError):
    """Something about lineage in files."""


class FileRefused(ExchangeError):
    """``place`` is a line, an element or a byte, as near as it can be told."""

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
            f"{shorten(file)} is of format version {shorten(version)}; this Headwater reads {known} and later minor "
            "versions. Upgrade Headwater."
        )


class GraphInvalid(ExchangeError):
    """``rule`` is the rule's name, ``element`` what breaks it, like `edge c3d4e5f6-…`."""

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
    """``path`` begins and ends with the same node."""

    rule = "acyclic"

    def __init__(self, element: str, path: Sequence[str]) -> None:
        self.path = tuple(path)
        super().__init__(element, f"it leads back to itself: {_path(path)}")


def _path(path: Sequence[str]) -> str:
    if len(path) <= _SHOWN_STEPS:
        return " → ".join(map(shorten, path))
    half = _SHOWN_STEPS // 2
    shown = [*map(shorten, path[:half]), f"… {len(path) - 2 * half} more …", *map(shorten, path[-half:])]
    return " → ".join(shown)


class NamespaceInvalid(GraphInvalid):
    rule = "namespace format"


class StructureInvalid(GraphInvalid):
    pass


class StoreError(HeadwaterError):
    """Something about the database behind the store."""


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


class RemoteError(HeadwaterError):
    """Something about a Headwater server that is used as a store over HTTP."""


class NotOffered(RemoteError):
    """``method`` has no route; a partial answer would be a wrong one."""

    def __init__(self, method: str) -> None:
        self.method = method
        super().__init__(f"{method} is not offered over HTTP; open the store itself or run it on the server.")


class RequestRefused(RemoteError):
    """``code`` is that of the server's problem, where it sends one."""

    def __init__(self, status: int, code: str | None, detail: str) -> None:
        self.status = status
        self.code = code
        self.detail = detail
        named = str(status) if code is None else f"{status}, {code}"
        super().__init__(f"The server refuses the request ({named}): {detail}")


class AnswerUnreadable(RemoteError):
    """``field`` is the path to it, like `nodes[0].via`."""

    def __init__(self, field: str, reason: str, version: str) -> None:
        self.field = field
        self.reason = reason
        self.version = version
        super().__init__(
            f"The answer of the server (Headwater {shorten(version)}) cannot be read at {shorten(field)}: {reason}. "
            "Use the same version on both sides."
        )
