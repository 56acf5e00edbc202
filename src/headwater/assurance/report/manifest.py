"""The manifest: hashes of configuration, code, design, inputs and outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from headwater.assurance.report.gather import ReportData
from headwater.assurance.report.markup import (
    Html,
    Part,
    absent_note,
    code,
    facts,
    join_parts,
    lines,
    mark,
    table,
    tag,
    words,
)
from headwater.assurance.report.shapes import mapping
from headwater.formats.openlineage.claims.preimages import matches_hash
from headwater.formats.openlineage.facet_names import MANIFEST_FACET

_HASHES = {"configHash": ("configuration", "config"), "codeHash": ("code", "code"), "designHash": ("design", "design")}
"""What each hash covers, and the member of the manifest with the hashed document, if any."""
_STATES = {"inputChecksums": "input", "outputChecksums": "output"}
_LIST_HEADINGS = {"withoutChecksum": "Without a checksum", "filesNotRead": "Files that were not read"}
_MAX_TEXT = 6_000


def manifest_hashes(case: ReportData) -> list[tuple[str, str, str]]:
    """Return for each hash what it covers, a name, and the hash."""
    facet = mapping(case.facet(MANIFEST_FACET))
    result = [(what, "", words(facet[key])) for key, (what, _) in _HASHES.items() if key in facet]
    for key, what in _STATES.items():
        result += [(what, name, words(one)) for name, one in mapping(facet.get(key)).items()]
    return result


def certified_mark(case: ReportData, name: str) -> Html | None:
    answer = case.is_certified(name)
    if answer is None:
        return None
    return mark(answer, "as certified" if answer else "differs from the certified one")


def manifest(case: ReportData) -> Html:
    result = manifest_hashes(case)
    if not result:
        return absent_note(f"Not shown by this run: it has no manifest ({MANIFEST_FACET}).")
    facet = mapping(case.facet(MANIFEST_FACET))
    rows = ([what, code(name) if name else "—", code(one), _recomputed_mark(facet, what)] for what, name, one in result)
    return join_parts(
        [
            tag("p", certified_mark(case, MANIFEST_FACET)),
            table(["Of", "Name", "Hash", ""], rows),
            *_unhashed_files(facet),
            *_hashed_document(facet),
        ]
    )


def _recomputed_mark(facet: Mapping[str, object], what: str) -> Part:
    """Verify a hash if the manifest has the hashed document."""
    for key, (of, document) in _HASHES.items():
        same = matches_hash(facet.get(key), facet.get(document)) if of == what else None
        if same is not None:
            return mark(same, "hash verified" if same else "hash differs")
    return None


def _unhashed_files(facet: Mapping[str, object]) -> Iterator[Html]:
    for key, heading in _LIST_HEADINGS.items():
        named = mapping(facet.get(key))
        if named:
            yield tag("h4", heading)
            yield facts((name, words(why)) for name, why in named.items())


def _hashed_document(facet: Mapping[str, object]) -> Iterator[Html]:
    for of, document in _HASHES.values():
        if document in facet:
            text = _indent(facet[document])
            yield tag("h4", f"The hashed {of}")
            yield lines(text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}\n…")


def _indent(document: object) -> str:
    """Format a document; one stored as the hashed JSON text is parsed first."""
    try:
        value = json.loads(document) if isinstance(document, str) else document
    except ValueError:
        value = document
    return json.dumps(value, indent=2, ensure_ascii=False)
