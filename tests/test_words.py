"""The words of the project: names are nouns and verbs of their field, and texts are plain English.

Public and module-level names are not participles on their own, one class name has one meaning, and help, errors and
documentation are free of phrases that a native reader would stumble over.
"""

from __future__ import annotations

import ast
import inspect
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import typer.main

from headwater.cli.app import app
from tests.cli.running import commands

PACKAGE = Path(__file__).parents[1] / "src" / "headwater"
DOCS = Path(__file__).parents[1] / "docs"

PARTICIPLES = {
    *("told", "said", "found", "kept", "given", "held", "asked", "taken", "shown", "known", "heard", "seen", "meant"),
    *("gone", "left", "lost", "stated", "handed", "borrowed", "lent", "looked", "called"),
}
"""Past participles that name nothing on their own: `found` what, `told` what?"""

OLD_PHRASES = (
    *("unless told", "so many", "whoever", "otherwise than", "is had", "let go", "told of", "is told", "are told"),
    *(
        "as it stands",
        "again for more",
        "come again",
        "speak of",
        "speaks of",
        "taken in",
        "takes in",
        "no longer good",
    ),
    *("in the words of", "brought along", "heard of", "nobody in particular"),
)
"""Phrases of the old dialect, in lower case. They have no place in help, messages or documentation."""


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
    words = " ".join(text.lower().split())
    return {phrase for phrase in OLD_PHRASES if phrase in words}


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
    pages = [*DOCS.glob("*.md"), *DOCS.glob("how-to/*.md")]
    assert len(pages) > 20
    found = {str(page.relative_to(DOCS)): phrases_in(page.read_text(encoding="utf-8")) for page in pages}
    assert {page: phrases for page, phrases in found.items() if phrases} == {}


def test_errors_have_no_phrase_of_the_old_dialect() -> None:
    files = (PACKAGE / "errors").glob("*.py")
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert len(texts) > 100
    assert {phrase for text in texts for phrase in phrases_in(text)} == set()
