"""The formats of an export, each with all that other modules know of it.

Light to import, for the command line and the server: a writer is imported when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from types import MappingProxyType
from typing import IO

from headwater.formats.wia.elements import Element

ElementWriter = Callable[[Iterable[Element], IO[str]], None]


class Format(StrEnum):
    JSON = "wia-json"
    JSONL = "wia-jsonl"
    PARQUET = "wia-parquet"
    GRAPHML = "graphml"
    OPENLINEAGE = "openlineage"
    MERMAID = "mermaid"


@dataclass(frozen=True)
class FormatDetails:
    file_name: str
    """Of the file or folder, unless the caller names it."""
    media_type: str | None
    """None for a folder, which no response can be."""
    module: str | None = None
    """The module below `headwater.formats` whose `write` puts elements into a text file."""
    draws_cycles: bool = False

    @property
    def writer(self) -> ElementWriter:
        write: ElementWriter = import_module(f"headwater.formats.{self.module}").write
        return write


DETAILS: Mapping[Format, FormatDetails] = MappingProxyType(
    {
        Format.JSON: FormatDetails("lineage_graph_{moment}.json", "application/json", "wia.json_graph"),
        Format.JSONL: FormatDetails("lineage_events_{date}.jsonl", "application/x-ndjson", "wia.lines"),
        Format.PARQUET: FormatDetails("lineage_tables_{moment}", None),
        Format.GRAPHML: FormatDetails("lineage_graph_{moment}.graphml", "application/xml", "graphml"),
        Format.OPENLINEAGE: FormatDetails("openlineage_events_{date}.jsonl", "application/x-ndjson"),
        Format.MERMAID: FormatDetails("lineage_graph_{moment}.mmd", "text/plain", "mermaid", draws_cycles=True),
    }
)


def format_names() -> str:
    """All names, as in a sentence."""
    *names, last = Format
    return f"{', '.join(names)} or {last}"
