"""Renders a root as a tree: each record below its parent, joins once, with orphans, cycles and conflicts in place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from headwater.cli.render.layout import ResponsiveTable
from headwater.cli.render.parts import data, join, note
from headwater.cli.text import count_of, moment
from headwater.model.records import Record, RootTrace

_MAX_TREE_DEPTH = 24
"""The depth beyond which a list replaces the tree: its indentation would leave no room for names."""


def root_tree(answer: RootTrace) -> RenderableType:
    return Group(_RootTree(answer).render(), Text(), _summary(answer), *_remarks(answer))


class _RootTree:
    def __init__(self, answer: RootTrace) -> None:
        self._answer = answer
        self._records = {record.node_id: record for record in answer.records}
        self._on_cycle = set(answer.cycle)
        self._conflicted = {conflict.held.node_id: len(conflict.others) for conflict in answer.conflicts}
        self._children: dict[str, list[Record]] = defaultdict(list)
        for record in answer.records:  # the earliest first, and so are the children of each
            for parent in record.parent_ids:
                if not parent == record.node_id == answer.root_id:
                    self._children[parent].append(record)

    def render(self) -> RenderableType:
        """A tree, or a list where that would be too deep."""
        rows = list(self._walk())
        if max((depth for depth, *_ in rows), default=0) > _MAX_TREE_DEPTH:
            return self._list(rows)
        tree = Tree(self._top(), guide_style="dim")
        branches = {0: tree}
        for depth, label, _ in rows:
            branches[depth + 1] = branches[depth].add(label)
        return tree

    def _top(self) -> Text:
        own = self._records.get(self._answer.root_id)
        root = data(self._answer.root_id, "bold")
        return root if own is None else join([root, self._details(own)], "  ")

    def _walk(self) -> Iterator[tuple[int, Text, str]]:
        """Depth, label and node id of each line. A node is shown once, and repeated by name where it occurs again."""
        shown: set[str] = {self._answer.root_id}
        waiting = [(0, record) for record in reversed(self._children[self._answer.root_id])]
        yield from self._below(waiting, shown)
        for orphan in self._answer.orphans:
            label = data(orphan, "yellow")
            yield 0, join([label, Text("not recorded", style="yellow")], "  "), orphan
            yield from self._below([(1, record) for record in reversed(self._children[orphan])], shown)
        for record in self._answer.records:  # cycles that nothing leads to
            if record.node_id not in shown:
                yield from self._below([(0, record)], shown)

    def _below(self, waiting: list[tuple[int, Record]], shown: set[str]) -> Iterator[tuple[int, Text, str]]:
        while waiting:
            depth, record = waiting.pop()
            if record.node_id in shown:
                yield depth, join([data(record.node_id, "cyan"), note("see above")], "  "), record.node_id
                continue
            shown.add(record.node_id)
            yield depth, self._label(record), record.node_id
            waiting += [(depth + 1, child) for child in reversed(self._children[record.node_id])]

    def _label(self, record: Record) -> Text:
        return join([data(record.node_id, "cyan"), self._details(record)], "  ")

    def _details(self, record: Record) -> Text:
        pieces: list[Text] = [data(record.action_taken, "bold"), note(moment(record.recorded_at))]
        pieces.append(data(record.storage_location, "dim"))
        if len(record.parent_ids) > 1:
            pieces.append(note(f"{len(record.parent_ids):,} parents"))
        if record.node_id in self._on_cycle:
            pieces.append(Text("on a cycle", style="yellow"))
        if record.node_id in self._conflicted:
            others = count_of(self._conflicted[record.node_id], "other content")
            pieces.append(Text(f"conflict: {others}", style="bold red"))
        return join(pieces, "  ")

    def _list(self, rows: list[tuple[int, Text, str]]) -> RenderableType:
        listed = ResponsiveTable("Node", "Parents", "Action", "When (UTC)", "Location", lead=0)
        listed_names: set[str] = set()
        for _, _, name in rows:
            record = self._records.get(name)
            if record is None or name in listed_names:
                continue
            listed_names.add(name)
            parents = join([data(parent) for parent in record.parent_ids])
            cells = data(record.action_taken), Text(moment(record.recorded_at)), data(record.storage_location)
            listed.add(data(name, "cyan"), parents, *cells)
        return Group(self._top(), Text(), listed)


def _summary(answer: RootTrace) -> Text:
    records = count_of(len(answer.records), "record")
    return Text(f"{records}, {count_of(len(answer.traces), 'leaf', 'leaves')}. Times are UTC.")


def _remarks(answer: RootTrace) -> list[Text]:
    remarks = []
    if answer.orphans:
        count = count_of(len(answer.orphans), "parent was", "parents were")
        remarks.append(Text(f"{count} never recorded; their descendants are shown.", style="yellow"))
    if answer.cycle:
        remarks.append(Text(f"{count_of(len(answer.cycle), 'node lies', 'nodes lie')} on a cycle.", style="yellow"))
    if answer.conflicts:
        count = count_of(len(answer.conflicts), "node was", "nodes were")
        remarks.append(
            Text(f"{count} recorded with different contents: the first is shown, --json has all.", style="bold red")
        )
    return remarks
