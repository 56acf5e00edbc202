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
from typing import Any

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

    def __call__(self, event: dict[str, Any]) -> Frame:
        redacted = self._redact(self._check_compressed_parts(event))
        frame = self._sign(redacted)
        if _MARK not in frame.body or not any(
            "plan" in (_rows_of(output) or ()) for output in redacted.get("outputs") or ()
        ):
            return frame
        return self._sign(_without_plans(redacted, "its text holds what looks like a secret"))

    def _sign(self, event: dict[str, Any]) -> Frame:
        key = self._key.get() if self._key is not None and any(map(_rows_of, event.get("outputs") or ())) else None
        if key is not None:
            sign_event(event, key)
        return frame_of(event)

    def _redact(self, event: Mapping[str, Any]) -> dict[str, Any]:
        manifest = event.get("run", {}).get("facets", {}).get(MANIFEST_FACET) or {}
        outputs = [_rows_of(output) or {} for output in event.get("outputs") or ()]
        redacted: dict[str, Any] = self._redactor.document(_without_opaque(event))
        if manifest:
            redacted["run"]["facets"][MANIFEST_FACET] |= {
                name: manifest[name] for name in _HASHED_MEMBERS if name in manifest
            }
        for output, rows in zip(redacted.get("outputs") or (), outputs, strict=True):
            if rows:
                _restore_opaque(output["outputFacets"][ROWS_FACET], rows)
        return redacted

    def _check_compressed_parts(self, event: dict[str, Any]) -> dict[str, Any]:
        if not any(_rows_of(output) for output in event.get("outputs") or ()):
            return event
        return event | {"outputs": [self._check_output(output) for output in event["outputs"]]}

    def _check_output(self, output: Mapping[str, Any]) -> Mapping[str, Any]:
        rows = _rows_of(output)
        return output if rows is None else _with_rows(output, self._check_rows(rows))

    def _check_rows(self, rows: Mapping[str, Any]) -> Mapping[str, Any]:
        plan, written = rows.get("plan"), rows.get("written") or {}
        if plan is not None and (shape := self._secret_in(plan.get("bytes"))) is not None:
            rows = without_plan(rows, f"the plan holds what looks like a secret ({shape})")
        if (shape := self._secret_in((written.get("files") or {}).get("list"))) is not None:
            unknown = f"the paths of its files hold what looks like a secret ({shape})"
            rest = {name: value for name, value in written.items() if name != "files"}
            rows = {**rows, "written": {**rest, "unknown": unknown}}
        sources = [self._check_source(source) for source in rows.get("sources") or ()]
        if sources != list(rows.get("sources") or ()):
            need = "the paths of an input's files hold what looks like a secret"
            rows = without_plan({**rows, "sources": sources}, need)
        return rows

    def _check_source(self, source: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._secret_in((source.get("files") or {}).get("list")) is None:
            return source
        return {name: value for name, value in source.items() if name != "files"}

    def _secret_in(self, packed: str | None) -> str | None:
        if packed is None:
            return None
        try:
            inflating = zlib.decompressobj()
            text = inflating.decompress(base64.b64decode(packed, validate=True), _MAX_UNPACKED_BYTES).decode("latin-1")
        except (ValueError, zlib.error):
            return _UNREADABLE
        if not inflating.eof:
            return _UNREADABLE
        return self._redactor.secret_in(text) if self._redactor.may_hold_secret(text) else None


def without_plan(rows: Mapping[str, Any], need: str) -> dict[str, Any]:
    """What is captured of a write without its query, and the reason that a later trace will state."""
    needs = list(dict.fromkeys((*(rows.get("needs") or ()), need)))
    return {name: value for name, value in rows.items() if name != "plan"} | {"replayable": False, "needs": needs}


def _rows_of(output: Mapping[str, Any]) -> Mapping[str, Any] | None:
    facet = (output.get("outputFacets") or {}).get(ROWS_FACET)
    return facet if isinstance(facet, Mapping) else None


def _with_rows(output: Mapping[str, Any], rows: Mapping[str, Any]) -> dict[str, Any]:
    return {**output, "outputFacets": {**output["outputFacets"], ROWS_FACET: dict(rows)}}


def _without_plans(event: dict[str, Any], need: str) -> dict[str, Any]:
    outputs = []
    for output in event.get("outputs") or ():
        rows = _rows_of(output)
        outputs.append(output if rows is None or "plan" not in rows else _with_rows(output, without_plan(rows, need)))
    return event | {"outputs": outputs} if outputs else event


def _without_opaque(event: Mapping[str, Any]) -> dict[str, Any]:
    """The event without its compressed and hashed parts."""
    event = dict(event)
    facets = event.get("run", {}).get("facets", {})
    if MANIFEST_FACET in facets:
        manifest = {name: value for name, value in facets[MANIFEST_FACET].items() if name not in _HASHED_MEMBERS}
        event["run"] = {**event["run"], "facets": {**facets, MANIFEST_FACET: manifest}}
    if any(_rows_of(output) for output in event.get("outputs") or ()):
        event["outputs"] = [_output_without_opaque(output) for output in event["outputs"]]
    return event


def _output_without_opaque(output: Mapping[str, Any]) -> Mapping[str, Any]:
    rows = _rows_of(output)
    if rows is None:
        return output
    left = dict(rows)
    if "plan" in left:
        left["plan"] = {name: value for name, value in left["plan"].items() if name != "bytes"}
    if "written" in left:
        left["written"] = {name: value for name, value in left["written"].items() if name != "files"}
    if "sources" in left:
        left["sources"] = [
            {name: value for name, value in source.items() if name != "files"} for source in left["sources"]
        ]
    return _with_rows(output, left)


def _restore_opaque(redacted: dict[str, Any], rows: Mapping[str, Any]) -> None:
    if "plan" in redacted and "bytes" in rows["plan"]:
        redacted["plan"]["bytes"] = rows["plan"]["bytes"]
    if "files" in (rows.get("written") or {}):
        redacted["written"]["files"] = rows["written"]["files"]
    for after, before in zip(redacted.get("sources") or (), rows.get("sources") or (), strict=True):
        if "files" in before:
            after["files"] = before["files"]
