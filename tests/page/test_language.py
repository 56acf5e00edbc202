"""The words of the page: those of the field, so that a reader can search for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCES = ROOT / "ui" / "src"

PHRASES = (
    r"\b(is|was|were|are|be|been|none) told\b",
    r"\btold (of|no|that|us)\b",
    r"\b(tells|telling) (of|that)\b",
    r"\b(unless|as far as it was|as it was) told\b",
    r"\b(let|lets|letting) go\b",
    r"\bcome in\b",
    r"\bwhoever\b",
    r"\bwholly\b",
    r"\banew\b",
    r"\bso many\b",
    r"\bis so\b",
    r"\bcalled (so|off)\b",
    r"\bis like that\b",
    r"\bnobody\b",
    r"\bheld against\b",
    r"\b(last )?heard of\b",
    r"\bname holds\b",
    r"\bfailed lately\b",
    r"\bbecame of\b",
    r"\bas of then\b",
    r"\bmade of\b",
    r"\bin the midst\b",
    r"\bfor want of\b",
    r"\bthe (house|estate|veil|ear|scribe|witness)\b",
    r"\bcould not be known\b",
    r"\bask(s|ed|ing)? spark\b",
    r"\buntold\b",
    r"\bnone is\b",
)
"""Of texts and of names; ``language.md`` says what is written instead."""

PARTICIPLES = "told said heard held kept given got asked found each here sought struck"
COINED = "Ear Scribe Veil Witness Estate Station Told Said Found Asked Seen Reached Behind Onward Asking Trouble Wrong"
DECLARATION = re.compile(r"\b(?:const|let|function|class|interface|type|enum)\s+([A-Za-z_]\w*)")
DESTRUCTURING = re.compile(r"\b(?:const|let)\s+([\[{][^=;]*?[\]}])\s*[=:]")
PARAMETER = re.compile(r"\(([a-z]\w*)(?:: [^()]*)?\) =>")
CLASS_NAME = re.compile(r"\.([a-z][a-z-]*)(?=[^{}]*\{)")
COMMENT_OR_TEXT = re.compile(
    r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|/\*.*?\*/|(?<![:\w])//[^\n]*""", re.DOTALL
)


def without_comments(source: str) -> str:
    return COMMENT_OR_TEXT.sub(lambda match: match[1] or " ", source)


def sources(*suffixes: str) -> Iterator[Path]:
    for path in sorted(SOURCES.rglob("*")):
        if path.suffix in suffixes and path.name != "schema.d.ts" and ".test." not in path.name:
            yield path


def old_phrases(text: str) -> list[str]:
    flat = " ".join(text.split())
    return [match[0] for phrase in PHRASES for match in re.finditer(phrase, flat, re.IGNORECASE)]


def old_names(source: str) -> list[str]:
    names = [*DECLARATION.findall(source), *PARAMETER.findall(source)]
    names += [name for binding in DESTRUCTURING.findall(source) for name in re.findall(r"\w+", binding)]
    return [name for name in names if name in {*PARTICIPLES.split(), *COINED.split()}]


def test_texts_use_the_words_of_the_field() -> None:
    found = {
        f"{path.relative_to(SOURCES)}: {phrase}"
        for path in sources(".ts", ".tsx")
        for phrase in old_phrases(without_comments(path.read_text()))
    }
    assert sorted(found) == []


def test_names_are_nouns_and_verbs() -> None:
    found = {
        f"{path.relative_to(SOURCES)}: {name}"
        for path in sources(".ts", ".tsx")
        for name in old_names(without_comments(path.read_text()))
    }
    assert sorted(found) == []


def test_files_and_css_classes_are_nouns() -> None:
    words = {word.lower() for word in f"{PARTICIPLES} {COINED}".split()}
    files = {path.stem.lower() for path in sources(".ts", ".tsx", ".css")}
    classes = {name for path in sources(".css") for name in CLASS_NAME.findall(without_comments(path.read_text()))}
    assert "card" in classes
    assert sorted((files | classes) & words) == []


@pytest.mark.parametrize(
    "source",
    [
        "<Empty>No schema\n   has been told of.</Empty>",
        '<button title="Let go">',
        "const text = `${count} rows are told`;",
        '<input placeholder="Name holds…" />',
    ],
)
def test_an_old_phrase_is_detected_anywhere(source: str) -> None:
    assert old_phrases(without_comments(source))
    assert not old_phrases(without_comments(f"/* {source} */"))


@pytest.mark.parametrize(
    "source", ["const told = 1;", "rows.map((each) => each)", "interface Found {", "function said("]
)
def test_an_old_name_is_detected(source: str) -> None:
    assert old_names(source)


def test_fields_of_the_api_keep_their_names() -> None:
    assert old_names("const measured = report.measured_at ?? report.told_at;") == []
    assert old_phrases("report.told_at") == []
