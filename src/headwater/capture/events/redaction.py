"""The redaction of events: every event passes here before it reaches the spool, and so every sink.

Three parts of an event are not plain text. A kept plan and the lists of files are compressed: they are searched, and
one that contains a secret is left out, which the facet states. The texts of a manifest that have a hash beside them
were redacted before they were hashed (evidence/run_evidence.py), so they stay as they are and an auditor can hash them
again.

Kept plans are signed here, since a signature covers what leaves the process.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping

from headwater.capture.delivery.frames import Frame, frame_of
from headwater.capture.events.signing import CaptureSigningKey
from headwater.formats.openlineage.facet_names import MANIFEST_FACET, ROWS_FACET
from headwater.formats.openlineage.signed_rows import sign_event
from headwater.redaction.redactor import Redactor
from headwater.redaction.shapes import MARK

_HASHED_MEMBERS = ("config", "code", "design", "designs")
_MAX_UNPACKED_BYTES = 64 * 2**20
_MARK = MARK.encode()
_UNREADABLE = "something that cannot be looked into"


class RedactedFrames:
    """Makes the spool frame of an event. ``key`` signs kept plans."""

    def __init__(self, redactor: Redactor, key: CaptureSigningKey | None = None) -> None:
        self._redactor = redactor
        self._key = key

    def __call__(self, event: Mapping[str, object]) -> Frame:
        redacted = self._redact(self._check_compressed_parts(event))
        frame = self._sign(redacted)
        if _MARK not in frame.body or not any("plan" in (_rows_of(output) or ()) for output in _outputs(redacted)):
            return frame
        return self._sign(_without_plans(redacted, "its text holds what looks like a secret"))

    def _sign(self, event: dict[str, object]) -> Frame:
        key = self._key.get() if self._key is not None and any(map(_rows_of, _outputs(event))) else None
        if key is not None:
            sign_event(event, key)
        return frame_of(event)

    def _redact(self, event: Mapping[str, object]) -> dict[str, object]:
        manifest = _member(_member(_member(event, "run"), "facets"), MANIFEST_FACET)
        redacted: dict[str, object] = self._redactor.document(_without_opaque(event))
        if manifest:
            run = _member(redacted, "run")
            facets = _member(run, "facets")
            hashed = {name: manifest[name] for name in _HASHED_MEMBERS if name in manifest}
            facets = {**facets, MANIFEST_FACET: {**_member(facets, MANIFEST_FACET), **hashed}}
            redacted["run"] = {**run, "facets": facets}
        if "outputs" in redacted:
            redacted["outputs"] = [
                _restore_opaque(after, before)
                for after, before in zip(_outputs(redacted), _outputs(event), strict=True)
            ]
        return redacted

    def _check_compressed_parts(self, event: Mapping[str, object]) -> Mapping[str, object]:
        if not any(_rows_of(output) for output in _outputs(event)):
            return event
        return {**event, "outputs": [self._check_output(output) for output in _outputs(event)]}

    def _check_output(self, output: Mapping[str, object]) -> Mapping[str, object]:
        rows = _rows_of(output)
        return output if rows is None else _with_rows(output, self._check_rows(rows))

    def _check_rows(self, rows: Mapping[str, object]) -> Mapping[str, object]:
        written = _member(rows, "written")
        if "plan" in rows and (shape := self._secret_in(_member(rows, "plan").get("bytes"))) is not None:
            rows = without_plan(rows, f"the plan holds what looks like a secret ({shape})")
        if (shape := self._secret_in(_member(written, "files").get("list"))) is not None:
            unknown = f"the paths of its files hold what looks like a secret ({shape})"
            rest = {name: value for name, value in written.items() if name != "files"}
            rows = {**rows, "written": {**rest, "unknown": unknown}}
        before = _members(rows, "sources")
        sources = [self._check_source(source) for source in before]
        if sources != before:
            need = "the paths of an input's files hold what looks like a secret"
            rows = without_plan({**rows, "sources": sources}, need)
        return rows

    def _check_source(self, source: Mapping[str, object]) -> Mapping[str, object]:
        if self._secret_in(_member(source, "files").get("list")) is None:
            return source
        return {name: value for name, value in source.items() if name != "files"}

    def _secret_in(self, packed: object) -> str | None:
        if packed is None:
            return None
        if not isinstance(packed, str):
            return _UNREADABLE
        try:
            inflating = zlib.decompressobj()
            text = inflating.decompress(base64.b64decode(packed, validate=True), _MAX_UNPACKED_BYTES).decode("latin-1")
        except (ValueError, zlib.error):
            return _UNREADABLE
        if not inflating.eof:
            return _UNREADABLE
        return self._redactor.secret_in(text) if self._redactor.may_hold_secret(text) else None


def without_plan(rows: Mapping[str, object], need: str) -> dict[str, object]:
    """What is captured of a write without its query, and the reason that a later trace will state."""
    known = rows.get("needs")
    needs = list(dict.fromkeys((*(known if isinstance(known, list | tuple) else ()), need)))
    return {name: value for name, value in rows.items() if name != "plan"} | {"replayable": False, "needs": needs}


def _member(document: Mapping[str, object], name: str) -> Mapping[str, object]:
    """The object that is this member of a document; an empty one if there is none."""
    value = document.get(name)
    return value if isinstance(value, Mapping) else {}


def _members(document: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    values = document.get(name)
    return list(values) if isinstance(values, list | tuple) else []


def _outputs(event: Mapping[str, object]) -> list[Mapping[str, object]]:
    return _members(event, "outputs")


def _rows_of(output: Mapping[str, object]) -> Mapping[str, object] | None:
    facet = _member(output, "outputFacets").get(ROWS_FACET)
    return facet if isinstance(facet, Mapping) else None


def _with_rows(output: Mapping[str, object], rows: Mapping[str, object]) -> dict[str, object]:
    return {**output, "outputFacets": {**_member(output, "outputFacets"), ROWS_FACET: dict(rows)}}


def _without_plans(event: dict[str, object], need: str) -> dict[str, object]:
    outputs: list[Mapping[str, object]] = []
    for output in _outputs(event):
        rows = _rows_of(output)
        outputs.append(output if rows is None or "plan" not in rows else _with_rows(output, without_plan(rows, need)))
    return event | {"outputs": outputs} if outputs else event


def _without_opaque(event: Mapping[str, object]) -> dict[str, object]:
    """The event without its compressed and hashed parts."""
    rest = dict(event)
    run = _member(event, "run")
    facets = _member(run, "facets")
    if MANIFEST_FACET in facets:
        rest["run"] = {
            **run,
            "facets": {**facets, MANIFEST_FACET: _without(_member(facets, MANIFEST_FACET), *_HASHED_MEMBERS)},
        }
    if any(_rows_of(output) for output in _outputs(event)):
        rest["outputs"] = [_output_without_opaque(output) for output in _outputs(event)]
    return rest


def _output_without_opaque(output: Mapping[str, object]) -> Mapping[str, object]:
    rows = _rows_of(output)
    if rows is None:
        return output
    rest = dict(rows)
    if "plan" in rest:
        rest["plan"] = _without(_member(rest, "plan"), "bytes")
    if "written" in rest:
        rest["written"] = _without(_member(rest, "written"), "files")
    if "sources" in rest:
        rest["sources"] = [_without(source, "files") for source in _members(rest, "sources")]
    return _with_rows(output, rest)


def _without(document: Mapping[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in document.items() if name not in names}


def _restore_opaque(redacted: Mapping[str, object], output: Mapping[str, object]) -> Mapping[str, object]:
    before, after = _rows_of(output), _rows_of(redacted)
    if not before or after is None:
        return redacted
    rows = dict(after)
    if "plan" in rows:
        rows["plan"] = {**_member(rows, "plan"), **_only(_member(before, "plan"), "bytes")}
    if "written" in rows:
        rows["written"] = {**_member(rows, "written"), **_only(_member(before, "written"), "files")}
    if "sources" in rows:
        pairs = zip(_members(rows, "sources"), _members(before, "sources"), strict=True)
        rows["sources"] = [{**source, **_only(original, "files")} for source, original in pairs]
    return _with_rows(redacted, rows)


def _only(document: Mapping[str, object], name: str) -> dict[str, object]:
    return {name: document[name]} if name in document else {}
