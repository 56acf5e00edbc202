"""Parses the description of pair tables, which facet.py writes, into a :class:`TableLayout`.

The description is untrusted input: every field is checked against its type and its range, numbers are bounded, names
are opaque text that is only quoted or bound, and every path follows from the numbers. A malformed field raises
:class:`LayoutInvalid`, which names it. Other fields are not read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from headwater.engines.paths import local_path
from headwater.errors import EngineError, LayoutInvalid, RowsError, shorten
from headwater.formats.openlineage.text import is_storable
from headwater.rows.grain import GRAINS
from headwater.rows.pairs.layout import (
    FILES,
    FORMAT,
    TableBlock,
    TableLayout,
    TableLink,
    TableSource,
    block_folder,
)

_MODES = ("full", "sampled")
_IDS = ("position", "table position", "content", "range")
_MAX_NUMBER = 10_000
"""Sources, blocks and links of one plan."""
_MAX_COLUMNS = 10_000
_MAX_NOTES = 1_000
_MAX_NAME_LENGTH = 100_000
_MAX_NOTE_LENGTH = 10_000
_MAX_LONG = 2**63 - 1
_KIND = re.compile(r"[a-z][a-z ]{0,39}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_MAX_FILE_BYTES = 256 * 2**20
_FILE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,18}")


def read_layout(entry: object) -> TableLayout:
    """Parses an entry of the facet, or the marker file of a folder."""
    document = _mapping(entry, "")
    if document.get("format") != FORMAT:
        _refuse("format", f"it is not {FORMAT}")
    location = _location(document.get("location"))
    if "invalid" in document:
        reason = _text(document["invalid"], "invalid", _MAX_NOTE_LENGTH)
        raise RowsError(f"the tables at {shorten(location)} were not stored: {shorten(reason)}")
    mode = _choice(document.get("mode"), "mode", _MODES)
    blocks = tuple(_blocks(_list(document.get("composition"), "composition", _MAX_NUMBER)))
    sources = tuple(_sources(_list(document.get("sources"), "sources", _MAX_NUMBER)))
    _check_references(blocks, len(sources))
    for name in ("rows", "pairs", "bytes"):
        if name in document:
            _number(document[name], name, _MAX_LONG)
    _check_locations(document, location, blocks)
    return TableLayout(
        location=location,
        mode=mode,
        sample=_sample(document.get("sample"), mode),
        identity=_identity(document.get("identity")),
        sources=sources,
        blocks=blocks,
        digests=_digests(document.get("digests"), blocks),
        notes=tuple(
            _text(note, f"notes[{place}]", _MAX_NOTE_LENGTH, empty=True)
            for place, note in enumerate(_list(document.get("notes", []), "notes", _MAX_NOTES))
        ),
    )


def read_amounts(entry: Mapping[str, Any]) -> tuple[str, int, int, int]:
    """Mode, rows, pairs and bytes, for a list of tables."""
    rows, pairs, size = (_number(entry.get(name), name, _MAX_LONG) for name in ("rows", "pairs", "bytes"))
    return _choice(entry.get("mode"), "mode", _MODES), rows, pairs, size


def read_json(file: Path) -> Any:
    """Reads a JSON file of limited size, without NaN. Pipes and links are refused."""
    try:
        if file.is_symlink() or not file.is_file():
            raise RowsError(f"there is no file {shorten(str(file))}")
        if file.stat().st_size > _MAX_FILE_BYTES:
            raise RowsError(f"{shorten(str(file))} is larger than {_MAX_FILE_BYTES:,} bytes")
        return json.loads(file.read_bytes(), parse_constant=_refuse_constant)
    except (OSError, ValueError, RecursionError) as fault:
        raise RowsError(f"{shorten(str(file))} cannot be read as JSON") from fault


def read_lines(file: Path) -> list[Mapping[str, object]]:
    """The objects of a file of limited size, one in a line; lines that are none are left out."""
    if file.is_symlink() or not file.is_file() or file.stat().st_size > _MAX_FILE_BYTES:
        raise RowsError(f"there is no file {shorten(str(file))}")
    objects: list[Mapping[str, object]] = []
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        with suppress(ValueError, RecursionError):
            read: object = json.loads(line, parse_constant=_refuse_constant)
            if isinstance(read, dict):
                objects.append(read)
    return objects


def read_files(folder: Path, layout: TableLayout) -> dict[int, dict[int, str]]:
    """`files.json`: by source, the file that a number stands for."""
    document = _mapping(read_json(folder / FILES), FILES)
    return {
        source.number: dict(_file_numbers(document.get(str(source.number)), f"{FILES}: {source.number}"))
        for source in layout.sources
        if source.has_positions
    }


def _file_numbers(value: object, field: str) -> Iterator[tuple[int, str]]:
    for number, path in _mapping(value, field).items():
        if not _FILE_NUMBER.fullmatch(number) or not -_MAX_LONG - 1 <= int(number) <= _MAX_LONG:
            _refuse(field, f"'{shorten(number)}' is not a number of 64 bits")
        yield int(number), _text(path, f"{field}.{number}", _MAX_NAME_LENGTH)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _location(value: object) -> str:
    text = _text(value, "location", _MAX_NAME_LENGTH)
    try:
        path = local_path(text)
    except EngineError as fault:
        raise LayoutInvalid("location", str(fault).rstrip(".")) from None
    if not path.is_absolute() or ".." in path.parts:
        _refuse("location", "it is not an absolute path without '..'")
    return text


def _blocks(values: list[Any]) -> Iterator[TableBlock]:
    if not values:
        _refuse("composition", "there is no block")
    for number, value in enumerate(values):
        field = f"composition[{number}]"
        block = _mapping(value, field)
        _equal(block.get("block"), number, f"{field}.block")
        yield TableBlock(
            number,
            _kind(block.get("kind"), f"{field}.kind"),
            tuple(
                _number(source, f"{field}.sources[{place}]", _MAX_NUMBER)
                for place, source in enumerate(_list(block.get("sources"), f"{field}.sources", _MAX_NUMBER))
            ),
            tuple(_links(_list(block.get("links"), f"{field}.links", _MAX_NUMBER), field)),
        )


def _links(values: list[Any], above: str) -> Iterator[TableLink]:
    for place, value in enumerate(values):
        field = f"{above}.links[{place}]"
        link = _mapping(value, field)
        yield TableLink(
            _number(link.get("link"), f"{field}.link", _MAX_NUMBER),
            _number(link.get("to"), f"{field}.to", _MAX_NUMBER),
            _kind(link.get("kind"), f"{field}.kind"),
        )


def _sources(values: list[Any]) -> Iterator[TableSource]:
    for number, value in enumerate(values):
        field = f"sources[{number}]"
        source = _mapping(value, field)
        _equal(source.get("occurrence"), number, f"{field}.occurrence")
        dataset = _mapping(source.get("dataset"), f"{field}.dataset")
        for name in ("pairs", "bytes"):
            if name in source:
                _number(source[name], f"{field}.{name}", _MAX_LONG)
        yield TableSource(
            number,
            _text(dataset.get("namespace"), f"{field}.dataset.namespace", _MAX_NAME_LENGTH),
            _text(dataset.get("name"), f"{field}.dataset.name", _MAX_NAME_LENGTH),
            _choice(source.get("id"), f"{field}.id", _IDS),
            _choice(source.get("grain"), f"{field}.grain", GRAINS),
        )


def _check_references(blocks: tuple[TableBlock, ...], sources: int) -> None:
    links: set[int] = set()
    for block in blocks:
        field = f"composition[{block.number}]"
        if any(source >= sources for source in block.sources):
            _refuse(f"{field}.sources", f"it names a source that is not one of the {sources}")
        if len(set(block.sources)) != len(block.sources):
            _refuse(f"{field}.sources", "a source is there twice")
        for link in block.links:
            if link.number in links:
                _refuse(f"{field}.links", f"link {link.number} is there twice")
            if not block.number < link.to < len(blocks):  # so that following links ends
                _refuse(f"{field}.links", f"link {link.number} does not lead to a block below")
            links.add(link.number)


def _check_locations(entry: Mapping[str, Any], location: str, blocks: tuple[TableBlock, ...]) -> None:
    """Checks the paths, which repeat the numbers for other readers of the facet."""
    folders = {
        f"block-{block.number}/source-{source}": f"{location}/{block_folder(block.number)}"
        for block in blocks
        for source in block.sources
    }
    if "reverseJoinLocations" in entry and entry["reverseJoinLocations"] != folders:
        _refuse("reverseJoinLocations", "it does not name the folders of the blocks")
    if "outs" in entry and entry["outs"] != f"{location}/{block_folder(0)}":
        _refuse("outs", "it is not the folder of the first block")


def _digests(value: object, blocks: tuple[TableBlock, ...]) -> dict[str, str]:
    digests = _mapping(value, "digests")
    expected = {FILES, *(block_folder(block.number) for block in blocks)}
    if digests.keys() != expected:
        unexpected = min(map(str, digests.keys() ^ expected))
        _refuse("digests", f"'{shorten(unexpected)}' is missing, or is no part of the tables")
    for name, digest in digests.items():
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            _refuse(f"digests.{name}", "it is not a SHA-256 in hexadecimal digits")
    return dict(digests)


def _identity(value: object) -> tuple[str, ...]:
    names = tuple(
        _text(name, f"identity[{place}]", _MAX_NAME_LENGTH)
        for place, name in enumerate(_list(value, "identity", _MAX_COLUMNS))
    )
    if len({name.lower() for name in names}) != len(names):
        _refuse("identity", "a column is there twice")
    return names


def _sample(value: object, mode: str) -> float | None:
    if mode == "full":
        if value is not None:
            _refuse("sample", "tables of mode full are no sample")
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and 0 < value <= 1):
        _refuse("sample", "it is not a share between 0 and 1")
    return float(value)


def _mapping(value: object, field: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        _refuse(field or "the entry", "it is not an object")
    return value


def _list(value: object, field: str, max_length: int) -> list[Any]:
    if not isinstance(value, list | tuple):
        _refuse(field, "it is not a list")
    if len(value) > max_length:
        _refuse(field, f"it has more than {max_length:,} members")
    return list(value)


def _number(value: object, field: str, largest: int) -> int:
    if type(value) is not int or not 0 <= value <= largest:
        _refuse(field, f"it is not a whole number from 0 to {largest:,}")
    return value


def _equal(value: object, number: int, field: str) -> None:
    if type(value) is not int or value != number:
        _refuse(field, f"it is not {number}, its place in the list")


def _text(value: object, field: str, longest: int, *, empty: bool = False) -> str:
    if not isinstance(value, str) or not (value or empty):
        _refuse(field, "it is not a text")
    if len(value) > longest or not is_storable(value):
        _refuse(field, f"it is longer than {longest:,} characters, or holds what no text in a table can hold")
    return value


def _choice(value: object, field: str, choices: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in choices:
        _refuse(field, f"it is not one of: {', '.join(choices)}")
    return value


def _kind(value: object, field: str) -> str:
    if not isinstance(value, str) or not _KIND.fullmatch(value):
        _refuse(field, "it is not a word")
    return value


def _refuse(field: str, reason: str) -> NoReturn:
    raise LayoutInvalid(field, reason)
