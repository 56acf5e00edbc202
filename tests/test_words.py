"""The words of the project: names are nouns and verbs of their field, and texts are plain English.

Public and module-level names are not participles on their own, one class name has one meaning, and help, errors,
docstrings, documentation and the page contain no phrase that a native reader would stumble over.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from headwater.cli.app import app
from tests.cli.running import commands
from tests.page.test_language import sources, without_comments
from tests.support.console import prose

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "headwater"
TESTS = ROOT / "tests"

PARTICIPLES = {
    *("told", "said", "found", "kept", "given", "held", "asked", "taken", "shown", "known", "heard", "seen", "meant"),
    *("gone", "left", "lost", "stated", "handed", "borrowed", "lent", "looked", "called"),
}
"""Past participles that name nothing on their own: `found` what, `told` what?"""

OLD_WORDS = {
    "told",
    "tells",
    "telling",
    "somebody",
    "nobody",
    "whoever",
    "anew",
    "wholly",
    "presumed",
    "scribe",
    "veil",
}
"""Words that no name of a test has."""

NAMED_LATER = {"capture", "plan", "rows"}

OLD_PHRASES = re.compile(
    r"""\b(?:
    told | tells?\ (?:of|that|their|its) | telling\ (?:of|that)
    | nobody | somebody | whoever | anew | wholly | so\ many | as\ it\ stands | otherwise\ than
    | is\ had | let\ go | come\ again | again\ for\ more | for\ want\ of | of\ late | would\ have\ it
    | speaks?\ of | spoke\ of | spoken\ of | (?:taken|takes|took|take)\ in | (?:last\ )?heard\ of | brought\ along
    | no\ longer\ good | in\ the\ words\ of | not\ looked\ at | for\ good | all\ the\ same | without\ end
    | second\ place | (?:stores?|archives?|files?|those)\ of\ before | from\ before\ there\ were
    | what\ (?:is\ there|there\ is)
    | held\ against | holds?\ (?:it|that)\ against | the\ books | speaks?\ (?:for|against)\ it | set\ aside
    | hangs?\ on
    | taking\ turns | nothing\ else\ at\ work | the\ (?:scribe|estate|veil|seed) | as\ it\ likes
    | here\ and\ not\ there | given\ back | goes\ before | put\ in\ force
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Phrases of the old dialect. They have no place in help, messages, docstrings or documentation."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        yield str(file.relative_to(PACKAGE)), ast.parse(file.read_text(encoding="utf-8"))


def top_level_names(module: ast.Module) -> Iterator[str]:
    for node in module.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def is_bare_participle(name: str) -> bool:
    return name.strip("_").lower() in PARTICIPLES


def phrases_in(text: str) -> set[str]:
    return {phrase.lower() for phrase in OLD_PHRASES.findall(" ".join(text.split()))}


def docstrings(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def test_names_are_not_bare_participles() -> None:
    found = {
        file: names
        for file, module in modules()
        if (names := {name for name in top_level_names(module) if is_bare_participle(name)})
    }
    assert found == {}


def test_a_class_name_means_one_thing() -> None:
    files: defaultdict[str, set[str]] = defaultdict(set)
    for file, module in modules():
        for node in module.body:
            if isinstance(node, ast.ClassDef):
                files[node.name].add(file)
    shared = {name: where for name, where in files.items() if len(where) > 1}
    assert shared == {}


def test_help_has_no_phrase_of_the_old_dialect() -> None:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for _, command in commands():
        file = str(Path(inspect.unwrap(command.callback).__code__.co_filename).relative_to(PACKAGE))
        texts = [command.help, *(getattr(parameter, "help", None) for parameter in command.params)]
        found[file] |= {phrase for text in texts if text for phrase in phrases_in(text)}
    root = typer.main.get_command(app)
    assert not phrases_in(f"{root.help} {root.epilog}")
    assert {file: phrases for file, phrases in found.items() if phrases} == {}


def test_pages_have_no_phrase_of_the_old_dialect() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("benchmarks/*.md"), *(ROOT / "docs").rglob("*.md")]
    assert {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"} <= {page.name for page in pages}
    assert len(pages) > 50
    found = {str(page.relative_to(ROOT)): phrases_in(prose(page.read_text(encoding="utf-8"))) for page in pages}
    assert {page: phrases for page, phrases in found.items() if phrases} == {}


def test_docstrings_have_no_phrase_of_the_old_dialect() -> None:
    found = {file: {phrase for text in docstrings(module) for phrase in phrases_in(text)} for file, module in modules()}
    assert len(found) > 300
    assert {file: phrases for file, phrases in found.items() if phrases} == {}


def test_the_page_has_no_phrase_of_the_old_dialect() -> None:
    found = {file.name: phrases_in(without_comments(file.read_text())) for file in sources(".ts", ".tsx")}
    assert len(found) > 100
    assert {file: phrases for file, phrases in found.items() if phrases} == {}


def test_tests_are_named_plainly() -> None:
    """Names of test functions, of helpers and of modules; those in NAMED_LATER are yet to be renamed."""
    names = {
        f"{file.relative_to(TESTS)}::{name}"
        for file in TESTS.rglob("*.py")
        if file.relative_to(TESTS).parts[0] not in NAMED_LATER
        for name in [file.stem, *top_level_names(ast.parse(file.read_text(encoding="utf-8")))]
        if OLD_WORDS.intersection(name.lower().split("_"))
    }
    assert names == set()


@pytest.mark.parametrize(
    "text",
    [
        "Default: 100 unless told.",
        "stores of\nbefore",
        "Nobody can tell.",
        "What is there?",
        "a record that is taken in",
    ],
)
def test_an_old_phrase_is_detected(text: str) -> None:
    assert phrases_in(text)


@pytest.mark.parametrize(
    "text", ["No told_at", "a known dataset", "it says so", "made by hand", "Beside it is the log"]
)
def test_plain_english_is_accepted(text: str) -> None:
    assert phrases_in(text) == set()


def test_errors_have_no_phrase_of_the_old_dialect() -> None:
    files = (PACKAGE / "errors").glob("*.py")
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert len(texts) > 100
    assert {phrase for text in texts for phrase in phrases_in(text)} == set()
