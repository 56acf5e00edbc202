"""Upstream and downstream: a tree of shortest paths, each step with the job and the run behind it."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from headwater.cli.render.layout import ResponsiveTable, SideBySide
from headwater.cli.render.parts import data, dependency, join, note
from headwater.cli.text import count_of, elide, moment, printable
from headwater.model.answers import Closure, Grain, Node, Via
from headwater.model.lineage import Dependency, Origin
from headwater.model.names import Job

_VIA_JOB = "via job"
_MAX_TREE_DEPTH = 12
"""Beyond this depth a tree's indentation leaves no room for names, so a list is printed."""


def closure_tree(answer: Closure) -> RenderableType:
    if not answer.nodes:
        return Group(
            _start(answer), Text(f"Nothing {answer.direction} is recorded{_as_of(answer)}."), *_remarks(answer)
        )
    deepest = answer.nodes[-1].depth
    body = _tree(answer) if deepest <= _MAX_TREE_DEPTH else _list(answer)
    return Group(body, Text(), _summary(answer, deepest), *_remarks(answer))


def _start(answer: Closure) -> Text:
    name = str(answer.endpoint) if answer.part is None else f"{answer.endpoint}{answer.grain.mark}{answer.part}"
    return data(name, "bold")


def _tree(answer: Closure) -> Tree:
    root = Tree(_start(answer), guide_style="dim")
    branches: dict[Node | None, Tree] = {None: root}
    for node in answer.nodes:  # nearest first, so the parent is there already
        branches[node] = branches[node.parent].add(Group(_name(node), _step(node)))
    return root


def _list(answer: Closure) -> RenderableType:
    rows = ResponsiveTable("Hops", "Reached", "From", "Step", lead=1)
    for node in answer.nodes:
        near = data(node.parent.label) if node.parent is not None else Text("the start")
        step = ", ".join(words for words in (_how(node), _by(node.via)) if words)
        rows.add(Text(str(node.depth)), _name(node), near, Text(step))
    return Group(_start(answer), Text(), rows)


def _name(node: Node) -> Text:
    text = data(node.label, "cyan")
    if isinstance(node.endpoint, Job):
        text += Text(" (a job)", style="dim")
    elif node.part is None and node.grain is not Grain.DATASET:
        text += Text(" (as a whole)", style="dim")
    if node.dependency is not None:
        text = join([text, dependency(node.dependency)], "  ")
    return text


def _step(node: Node) -> SideBySide:
    return SideBySide(note(_how(node)), note(_by(node.via)), between=", ")


def _how(node: Node) -> str:
    """Describe the edge: its type and transformations; for a column its subtype, masking and logic."""
    what = _what(node)
    return f"{what}, {_VIA_JOB}" if node.via.via_job else what


def _what(node: Node) -> str:
    via = node.via
    if via.type is not None:
        kind = via.type.replace("_", " ")
        return f"{kind} ({printable(via.transformation)})" if via.transformation else kind
    if via.dependency is Dependency.UNKNOWN:
        return "columns not recorded"
    words = [printable(via.transformation)] if via.transformation else []
    if via.dependency not in (None, node.dependency):  # an indirect step anywhere makes the whole path indirect
        subtype = words.pop() if words else via.dependency.lower()
        words = [f"{subtype} (the path is {str(node.dependency).lower()})"]
    words += ["masked"] if via.masking else []
    words += [printable(elide(via.logic))] if via.logic else []
    return ", ".join(words)


def _by(via: Via) -> str:
    """Describe who reported the edge; a declared edge has no run."""
    if via.origin is Origin.DATASET:
        return "declared by the dataset itself, no run"
    by = printable(str(via.job)) if via.job is not None else "an unnamed job"
    if via.origin is Origin.JOB:
        return f"declared by {by}, no run"
    return f"by {by}, run {printable(via.run_id)}" if via.run_id is not None else f"by {by}"


def _summary(answer: Closure, deepest: int) -> Text:
    datasets = count_of(len({node.endpoint for node in answer.nodes}), "dataset")
    if answer.grain is Grain.DATASET:
        summary = datasets
    else:
        parts = count_of(sum(node.part is not None for node in answer.nodes), answer.grain.value)
        summary = f"{parts} in {datasets}"
    return Text(f"{summary}, deepest {count_of(deepest, 'hop')}{_as_of(answer)}.")


def _as_of(answer: Closure) -> str:
    return f", as of {moment(answer.as_of)} UTC" if answer.as_of is not None else ""


def _remarks(answer: Closure) -> list[Text]:
    remarks = []
    if answer.truncated:
        remarks.append(Text(f"Cut at depth {answer.max_depth}: there is more.", style="yellow"))
    if answer.in_cycle:
        remarks.append(Text("It is part of a cycle: lineage leads back to the start.", style="yellow"))
    if any(node.via.via_job for node in answer.nodes):
        remarks.append(
            note(
                f"{_VIA_JOB}: the job read one and wrote the other; which input went into which output is not recorded."
            )
        )
    if any(node.dependency is Dependency.UNKNOWN for node in answer.nodes):
        remarks.append(note("unknown: data flows between the two datasets, but their columns were not recorded."))
    return remarks
