"""GraphML, with a typed key for each field, for tools that draw graphs.

Written and read as a stream. XML cannot hold every character that a name may have: such a text is written with
replacements, and the document is added as JSON in ASCII. What the format has no element for (column lineage,
provenance, quality) is added beside nodes and edges as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import IO
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from headwater.formats.wia.decoding import decode_json
from headwater.formats.wia.elements import FIELDS, ID_OF, Document, Element, ElementKind, FieldSpec, FieldType
from headwater.formats.wia.flat import DOCUMENT, flatten, time_text, unflatten

_TYPES = {FieldType.COUNT: "long", FieldType.FRACTION: "double", FieldType.FLAG: "boolean"}
_ILLEGAL = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # with \r, which XML reads as \n
_ODD = re.compile("[^\x20-\x7e]|[&<>]")
"""Characters that need escaping or a check before they are written."""
_ENDS = {"source_node_id": "source", "target_node_id": "target"}
_ATTRIBUTES = {ElementKind.NODE: {"node_id": "id"}, ElementKind.EDGE: {"edge_id": "id", **_ENDS}}
"""The fields that are XML attributes of an element instead of keys."""
_SHORT = {"node_type": "type", "edge_type": "type"}
_BESIDE = (ElementKind.COLUMN, ElementKind.PROVENANCE, ElementKind.QUALITY)
_PARTS = frozenset(map(str, _ATTRIBUTES))
_AS_JSON = frozenset({*_TYPES, FieldType.TEXTS})


def _keys(kind: ElementKind) -> Mapping[str, FieldSpec]:
    fields = (field for field in FIELDS[kind] if field.name not in _ATTRIBUTES.get(kind, {}))
    return {_SHORT.get(field.name, field.name): field for field in fields}


_KEYS = {kind: _keys(kind) for kind in (ElementKind.GRAPH, ElementKind.NODE, ElementKind.EDGE)}


# -- writing --------------------------------------------------------------------------------------


def write(elements: Iterable[Element], out: IO[str]) -> None:
    """``elements``: the head first, nodes before edges."""
    stream = iter(elements)
    _, head = next(stream)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
    for kind, keys in _KEYS.items():
        for name, field in keys.items():
            out.write(_key(kind, name, _TYPES.get(field.type, "string")))
        out.write(_key(kind, DOCUMENT, "string"))
    for kind in _BESIDE:
        out.write(_key(ElementKind.GRAPH, kind, "string"))
    out.write('<graph id="lineage" edgedefault="directed">\n')
    out.write("".join(_data(ElementKind.GRAPH, head)) + "\n")
    for kind, document in stream:
        if kind in _BESIDE:
            out.write(f'<data key="graph_{kind}">{escape(json.dumps(document))}</data>\n')
        else:
            attributes = "".join(f" {a}={_quote_attribute(document[f])}" for f, a in _ATTRIBUTES[kind].items())
            out.write(f"<{kind}{attributes}>{''.join(_data(kind, document))}</{kind}>\n")
    out.write("</graph>\n</graphml>\n")


def _key(kind: ElementKind, name: str, type: str) -> str:
    """Ids of keys share one namespace: the same name may mean different things for a node and for an edge."""
    return f'<key id="{kind}_{name}" for="{kind}" attr.name="{name}" attr.type="{type}"/>\n'


def _data(kind: ElementKind, document: Document) -> Iterator[str]:
    row = flatten(kind, document)
    legal = True
    for name, field in _KEYS[kind].items():
        value = row[field.name]
        if value is not None:
            text = _text(value)
            if _ODD.search(text):
                legal = legal and not _ILLEGAL.search(text)
                text = escape(_ILLEGAL.sub("\ufffd", text))
            yield f'<data key="{kind}_{name}">{text}</data>'
    if row[DOCUMENT] is not None or not legal:
        yield f'<data key="{kind}_{DOCUMENT}">{escape(json.dumps(document))}</data>'


def _quote_attribute(text: str) -> str:
    return quoteattr(text) if '"' in text or _ODD.search(text) else f'"{text}"'


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return time_text(value)
    return value if isinstance(value, str) else json.dumps(value)


# -- reading --------------------------------------------------------------------------------------

_CHUNK = 2**18
_MAX_DEPTH = 20
_MAX_CHARACTERS = 64 * 2**20


def read(file: IO[bytes]) -> Iterator[Element]:
    """Raises a ``ValueError`` that names the line. A document type is refused: entities allow decompression bombs."""
    reader = _GraphmlReader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = reader.doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    try:
        while chunk := file.read(_CHUNK):
            parser.Parse(chunk, False)
            yield from reader.take_elements()
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code) or "not XML"
        raise ValueError(f"not XML at line {error.lineno:,} ({reason})") from None
    except ValueError as error:
        raise ValueError(f"{error} at line {parser.CurrentLineNumber:,}") from None
    yield from chain(reader.take_elements(), [(ElementKind.GRAPH, reader.head())])


class _GraphmlReader:
    def __init__(self) -> None:
        self._keys: dict[str, tuple[str, str]] = {}
        self._path: list[str] = []
        self._open: tuple[ElementKind, dict[str, object]] | None = None
        self._data: str | None = None
        self._text: list[str] = []
        self._length = 0
        self._graph: dict[str, object] = {}
        self._elements: list[Element] = []
        self._seen = False

    def take_elements(self) -> list[Element]:
        elements, self._elements = self._elements, []
        return elements

    def head(self) -> Document:
        if not self._seen:
            raise ValueError("it contains no graph")
        return _unflatten_element(ElementKind.GRAPH, self._graph)

    def doctype(self, *_: object) -> None:
        raise ValueError("a document type is declared, which no GraphML needs")

    def start(self, qualified: str, attributes: dict[str, str]) -> None:
        name = qualified.rpartition(" ")[2]
        self._path.append(name)
        if len(self._path) > _MAX_DEPTH:
            raise ValueError(f"elements are nested more than {_MAX_DEPTH} deep")
        if len(self._path) == 1 and name != "graphml":
            raise ValueError(f"it begins with <{name}>, not with <graphml>")
        if name == "data":
            self._data, self._text, self._length = attributes.get("key", ""), [], 0
        elif name == "key":
            self._keys[attributes.get("id", "")] = (attributes.get("for", "all"), attributes.get("attr.name", ""))
        elif name == "graph":
            self._seen = True
        elif name in _PARTS:
            if self._open is not None:
                raise ValueError(f"a <{name}> within another element")
            kind = ElementKind(name)
            self._open = kind, {f: attributes.get(a) for f, a in _ATTRIBUTES[kind].items()}

    def characters(self, text: str) -> None:
        if self._data is not None:
            self._length += len(text)
            if self._length > _MAX_CHARACTERS:
                raise ValueError(f"a text of more than {_MAX_CHARACTERS:,} characters")
            self._text.append(text)

    def end(self, qualified: str) -> None:
        name = self._path.pop()
        if name == "data" and self._data is not None:
            self._datum(self._data, "".join(self._text))
            self._data = None
        elif self._open is not None and name == self._open[0]:
            kind, row = self._open
            self._elements.append((kind, _unflatten_element(kind, row)))
            self._open = None

    def _datum(self, key: str, text: str) -> None:
        _, name = self._keys.get(key, ("all", key))  # a key that is declared nowhere may be its own name
        if self._open is None and name in _BESIDE:
            document = decode_json(text)
            if not isinstance(document, dict):
                raise ValueError(f"'{name}' is not a JSON object")
            self._elements.append((ElementKind(name), document))
            return
        kind, row = self._open or (ElementKind.GRAPH, self._graph)
        field = _KEYS[kind].get(name)
        if name == DOCUMENT:
            row[DOCUMENT] = text
        elif field is not None:
            row[field.name] = _value(field, text)


def _value(field: FieldSpec, text: str) -> object:
    return decode_json(text) if field.type in _AS_JSON else text


def _unflatten_element(kind: ElementKind, row: dict[str, object]) -> Document:
    document = unflatten(kind, row)
    if kind is ElementKind.EDGE and ID_OF[kind] not in document:
        raise ValueError("an edge has no id")
    return document
