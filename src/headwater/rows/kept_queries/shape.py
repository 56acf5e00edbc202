"""Checks that the members of a facet `headwater_rows` have the types that a capture writes.

A facet is untrusted input. It is checked once, here, so that readers of a verified facet can rely on its members.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from headwater.errors import KeptPlanRefused, shorten
from headwater.rows.kept_queries.files import MAX_FILES
from headwater.rows.kept_queries.formats import FORMATS, is_value_option, unlisted_options

_NUMBER_LIMIT = 2**63
_MAX_SOURCES = 10_000
_MAX_COLUMNS = 100_000
_KINDS = ("files", "delta", "iceberg", "range", "memory", "jdbc", "kafka", "other")

Check = Callable[[Any], bool]


def check_shape(facet: Mapping[str, Any]) -> None:
    """Raises KeptPlanRefused, which names the first member of another type."""
    _member(facet, "replayable", _is_bool)
    _member(facet, "needs", _list_of(_is_text), optional=True)
    _member(facet, "mode", _is_text, optional=True)
    _member(facet, "time", _is_text, optional=True)
    written = _object(facet, "written", "written", optional=True)
    if written is not None:
        _check_written(written)
    sources = facet.get("sources")
    if sources is not None:
        if not isinstance(sources, list) or len(sources) > _MAX_SOURCES:
            raise _refusal("sources", "a list of sources")
        for number, source in enumerate(sources):
            _check_source(source, f"sources[{number}]", replayable=facet["replayable"])
    if facet["replayable"]:
        _check_plan(facet)


def _check_plan(facet: Mapping[str, Any]) -> None:
    _member(facet, "spark", _is_text)
    _member(facet, "columns", _list_of(_is_text, _MAX_COLUMNS))
    _member(facet, "sources", lambda value: isinstance(value, list))
    _object(facet, "written", "written")
    plan = _object(facet, "plan", "plan")
    assert plan is not None
    for name in ("format", "digest", "bytes"):
        _member(plan, name, _is_text, "plan.")
    _member(plan, "python", _list_of(_is_text), "plan.")
    _member(plan, "pythonVersion", _is_text, "plan.", optional=True)


def _check_written(written: Mapping[str, Any]) -> None:
    for name in ("uri", "format", "unknown"):
        _member(written, name, _is_text, "written.", optional=True)
    _member(written, "version", lambda value: _is_text(value) or _is_number(value), "written.", optional=True)
    options = _object(written, "options", "written.options", optional=True)
    for name, value in (options or {}).items():
        if not isinstance(value, str) or not is_value_option(name):
            raise _refusal(f"written.options.{name}", "an option of a writer that changes values")
    _check_files(written, "written")


def _check_source(source: object, place: str, *, replayable: bool) -> None:
    if not isinstance(source, Mapping):
        raise _refusal(place, "an object")
    prefix = f"{place}."
    _member(source, "kind", lambda value: value in _KINDS, prefix)
    _member(source, "ids", _list_of(_is_number, _MAX_COLUMNS), prefix)
    datasets = source.get("datasets")
    if not isinstance(datasets, list) or len(datasets) > _MAX_SOURCES:
        raise _refusal(f"{place}.datasets", "a list of datasets")
    for number, dataset in enumerate(datasets):
        if not isinstance(dataset, Mapping):
            raise _refusal(f"{place}.datasets[{number}]", "an object")
        for name in ("namespace", "name"):
            _member(dataset, name, _is_text, f"{place}.datasets[{number}].")
    for name in ("format", "version", "path"):
        _member(source, name, _is_text, prefix, optional=True)
    _member(source, "table", _list_of(_is_text), prefix, optional=True)
    _check_files(source, place)
    if source["kind"] == "files":
        _member(source, "format", _is_format if replayable else _is_text, prefix)
        _check_options(source, place, replayable)
        for name in ("schema", "partitions"):
            _member(source, name, _is_schema, prefix)
    elif source["kind"] in ("delta", "iceberg"):
        _member(source, "version", _is_version, prefix, optional=not replayable)
        if not source.get("table"):
            _member(source, "path", _is_text, prefix, optional=not replayable)


def _check_options(source: Mapping[str, Any], place: str, replayable: bool) -> None:
    options = _object(source, "options", f"{place}.options")
    assert options is not None
    for name, value in options.items():
        if not isinstance(value, str):
            raise _refusal(f"{place}.options.{name}", "a text")
    if replayable and (refused := unlisted_options(options)):
        raise _refusal(f"{place}.options.{refused[0]}", "an option of a kept plan")


def _check_files(holder: Mapping[str, Any], place: str) -> None:
    files = _object(holder, "files", f"{place}.files", optional=True)
    if files is not None:
        _member(files, "count", lambda value: _is_number(value) and 0 <= value <= MAX_FILES, f"{place}.files.")
        _member(files, "list", _is_text, f"{place}.files.")


def _object(holder: Mapping[str, Any], name: str, place: str, *, optional: bool = False) -> Mapping[str, Any] | None:
    value = holder.get(name)
    if value is None and optional:
        return None
    if not isinstance(value, Mapping):
        raise _refusal(place, "an object")
    return value


def _member(holder: Mapping[str, Any], name: str, is_right: Check, prefix: str = "", *, optional: bool = False) -> None:
    value = holder.get(name)
    if (value is None and optional) or (value is not None and is_right(value)):
        return
    raise _refusal(prefix + name, "what a capture writes there")


def _refusal(place: str, expected: str) -> KeptPlanRefused:
    return KeptPlanRefused(f"its member {shorten(place)} is not {expected}")


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -_NUMBER_LIMIT <= value < _NUMBER_LIMIT


def _is_version(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20


def _is_format(value: Any) -> bool:
    return isinstance(value, str) and value.lower() in FORMATS


def _is_schema(value: Any) -> bool:
    """A schema as Spark writes it as JSON."""
    if not isinstance(value, str):
        return False
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return False
    fields = read.get("fields") if isinstance(read, dict) else None
    return isinstance(fields, list) and all(
        isinstance(member, dict) and isinstance(member.get("name"), str) for member in fields
    )


def _list_of(is_right: Check, max_length: int = _MAX_SOURCES) -> Check:
    return lambda value: isinstance(value, list) and len(value) <= max_length and all(map(is_right, value))
