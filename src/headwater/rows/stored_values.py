"""What becomes of a query's values in a format, so that they are compared with stored values as these read back.

Parquet and ORC return what was written, but a partition's value is a text in a path, where an empty one is null. JSON
and CSV are texts: times lose microseconds, and in CSV blanks are trimmed. Spark's own functions write and parse a
value as its writers and readers do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from headwater.rows.kept_queries.files import PinnedFile, read_file_list
from headwater.rows.kept_queries.formats import is_value_option
from headwater.rows.provenance import PlanColumn

VALUE = "{value}"
"""Stands for a column in an expression."""
_DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_EXACT_IN_PATHS = ("tinyint", "smallint", "int", "bigint", "boolean", "date", "decimal")
_EXACT_IN_TEXTS = {
    "json": ("tinyint", "smallint", "int", "bigint", "boolean", "float", "double", "decimal", "string", "binary"),
    "csv": ("tinyint", "smallint", "int", "bigint", "boolean", "decimal"),
}


@dataclass(frozen=True)
class StoredFormat:
    """How rows were written. ``partitions`` are the columns whose values are in paths, in lower case."""

    format: str
    options: Mapping[str, str]
    partitions: frozenset[str] = frozenset()

    @classmethod
    def of_output(cls, written: Mapping[str, Any]) -> StoredFormat:
        """``written`` is the member of a facet that has been checked (kept_queries/shape.py)."""
        files = read_file_list(written["files"]) if "files" in written else ()
        partitions = _partition_columns(written.get("uri") or "", files)
        return cls((written.get("format") or "").lower(), written.get("options") or {}, frozenset(partitions))

    def stored_values(
        self, columns: Sequence[PlanColumn], names: Sequence[str], types: Sequence[str], options: Mapping[str, str]
    ) -> tuple[str | None, ...]:
        """By column: the SQL of what is read where a value was written, or None if that is the value itself.

        ``names``, ``types`` and ``options`` are those of the reader.
        """
        return tuple(
            self._stored_value(name, column.type, type, options)
            for name, column, type in zip(names, columns, types, strict=True)
        )

    def _stored_value(self, name: str, written: str, read: str, options: Mapping[str, str]) -> str | None:
        if name.lower() in self.partitions:
            return _stored_in_path(written, read)
        if self.format in _EXACT_IN_TEXTS:
            is_exact = _kind(written) in _EXACT_IN_TEXTS[self.format]
            return None if is_exact and written == read else self._through_text(read, options)
        return None if written == read else f"cast({VALUE} as {read})"

    def _through_text(self, read: str, options: Mapping[str, str]) -> str:
        write_options, read_options = _sql_options(self.options), _sql_options(options)
        text = f"to_{self.format}(named_struct('c', {VALUE}){write_options})"
        return f"from_{self.format}({text}, {_sql_text('c ' + read)}{read_options}).c"


def _stored_in_path(written: str, read: str) -> str | None:
    if written == "string":
        stored = f"nullif(nullif({VALUE}, ''), '{_DEFAULT_PARTITION}')"
        return stored if read == "string" else f"cast({stored} as {read})"
    if _kind(written) in _EXACT_IN_PATHS:
        return None if written == read else f"cast({VALUE} as {read})"
    return f"cast(cast({VALUE} as string) as {read})"


def _kind(type: str) -> str:
    return type.partition("(")[0]


def _partition_columns(folder: str, files: Iterable[PinnedFile]) -> Iterable[str]:
    start = _path(folder).rstrip("/") + "/"
    for path in {file.path.rpartition("/")[0] for file in files}:
        for step in (_path(path) + "/").removeprefix(start).split("/"):
            name, equals, _value = step.partition("=")
            if equals:
                yield unquote(name).lower()


def _path(uri: str) -> str:
    """Without scheme and host, which are spelled in several ways."""
    scheme, colon, rest = uri.partition(":")
    path = rest if colon and "/" not in scheme else uri
    return "/" + path.lstrip("/") if not path.startswith("//") or path.startswith("///") else path


def _sql_options(options: Mapping[str, str]) -> str:
    pairs = [f"{_sql_text(name)}, {_sql_text(value)}" for name, value in options.items() if is_value_option(name)]
    return f", map({', '.join(pairs)})" if pairs else ""


def _sql_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
