"""A pipeline run: its nodes, and the outcomes of its items.

The facet is untrusted input, so its shape is checked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from headwater.cli.render.layout import ResponsiveTable, table
from headwater.cli.render.parts import at_limit, data, join, note, section
from headwater.cli.text import count_of, duration, elide
from headwater.formats.openlineage.facet_names import PIPELINE_FACET
from headwater.model.answers import RunDetail
from headwater.model.items import Hop, ItemRecord, Outcome, Reason

_COUNTS = {"items": "Items", "emitted": "Emitted", "filtered": "Filtered out"}
_RARE = {"retried": "Retried", "errors": "Errors", "dead_letters": "Dead letters"}
_STYLES = {Reason.DEAD_LETTERED: "bold red", Reason.ERROR: "bold red", Reason.FILTERED_OUT: "yellow"}


def pipeline_section(detail: RunDetail) -> list[RenderableType]:
    """The nodes with their counts; empty for a run that is not of a pipeline."""
    facet = detail.run_facets.get(PIPELINE_FACET)
    nodes = facet.get("nodes") if isinstance(facet, Mapping) else None
    valid_nodes = [node for node in nodes if isinstance(node, Mapping)] if isinstance(nodes, Sequence) else []
    if not isinstance(facet, Mapping) or not valid_nodes:
        return []
    lines: list[RenderableType] = [_nodes(valid_nodes)]
    items = facet.get("items")
    if isinstance(items, Mapping) and isinstance(items.get("counts"), Mapping):
        counts = [f"{number:,} {word}" for word, number in items["counts"].items() if isinstance(number, int)]
        lines += [join([note("items"), data(", ".join(counts) or "none")], "  ")]
    replays = facet.get("replays")
    if isinstance(replays, Mapping) and isinstance(replays.get("runs"), Sequence):
        text = f"dead letters of {replays.get('node')}, of run {', '.join(map(str, replays['runs']))}"
        lines.append(join([note("replays"), data(text)], "  "))
    return [section("Pipeline", *lines)]


def _nodes(nodes: Sequence[Mapping[str, object]]) -> RenderableType:
    counts = {node.get("name"): node.get("counts") for node in nodes}
    counts_by_node = {name: item if isinstance(item, Mapping) else {} for name, item in counts.items()}
    words = {
        word: heading for word, heading in _COUNTS.items() if any(word in item for item in counts_by_node.values())
    }
    words |= {
        word: heading for word, heading in _RARE.items() if any(item.get(word) for item in counts_by_node.values())
    }
    rows = table("Node", "Type", *words.values(), "Took")
    for node in nodes:
        node_counts = counts_by_node[node.get("name")]
        numbers = [node_counts.get(word) for word in words]
        seconds = node.get("seconds")
        rows.add_row(
            data(node.get("name"), "cyan"),
            data(node.get("type", "")),
            *(Text(f"{number:,}" if isinstance(number, int) else "") for number in numbers),
            Text(duration(timedelta(seconds=seconds)) if isinstance(seconds, int | float) else ""),
        )
    return rows


def item_list(counts: Mapping[Reason, int], records: Sequence[ItemRecord], limit: int) -> RenderableType:
    if not counts:
        return Text("No matching items.")
    total = join([_reason_count(reason, number) for reason, number in counts.items()])
    rows = ResponsiveTable("Reason", "Node", "Source", "Key", "Retries", "Error", "Item", lead=6)
    for record in records:
        rows.add(
            _reason(record.reason),
            data(record.node, "cyan"),
            data(record.source),
            data(_key(record.key)),
            Text(str(record.retries) if record.retries else ""),
            data(elide(record.error or "", 80)),
            data(record.correlation_id),
        )
    return Group(
        join([Text(count_of(sum(counts.values()), "item")), total], ": "), Text(), rows, *at_limit(records, limit)
    )


def item_tree(record: ItemRecord) -> RenderableType:
    """One item with all its hops."""
    head = join([data(record.correlation_id, "bold"), data(f"{record.source} {_key(record.key)}")], "  ")
    tree = Tree(join([head, _reason(record.reason), join(["at ", data(record.node, "cyan")], "")], "  "))
    for hop in record.hops:
        branch = tree.add(_hop(hop))
        for word, text in (("in", hop.input), ("out", hop.output)):
            if text is not None:
                branch.add(join([note(word), data(elide(text))], "  "))
    if record.error is not None:
        tree.add(join([note("error"), data(elide(record.error, 400), "red")], "  "))
    if record.data is not None:
        tree.add(join([note("data"), data(elide(record.data, 400))], "  "))
    if record.contributors:
        shown = ", ".join(record.contributors[:5]) + (", …" if len(record.contributors) > 5 else "")
        tree.add(join([note("contributors"), data(shown)], "  "))
    return tree


def _hop(hop: Hop) -> Text:
    words = [count_of(hop.emissions, "row") if hop.emissions is not None else ""]
    if hop.contributors is not None and hop.contributors > 1:
        words.append(f"of {count_of(hop.contributors, 'item')}")
    if hop.retries:
        words.append(count_of(hop.retries, "retry", "retries"))
    words += [str(hop.continuity), "truncated" if hop.truncated else ""]
    style = "red" if hop.outcome & (Outcome.ERROR | Outcome.DEAD_LETTERED) else "green"
    parts = [data(hop.node, "cyan"), Text(hop.outcome.words, style), note(", ".join(word for word in words if word))]
    return join(parts, "  ")


def _reason_count(reason: Reason, number: int) -> Text:
    return join([Text(f"{number:,}"), _reason(reason)], " ")


def _reason(reason: Reason) -> Text:
    return Text(str(reason), style=_STYLES.get(reason, "green"), no_wrap=True)


def _key(text: str | None) -> str:
    """`order_id=5`, from the JSON of the key; of a position in a file, only the name of the file."""
    try:
        values = json.loads(text or "null")
    except ValueError:
        return text or ""
    if not isinstance(values, dict):
        return text or ""
    if values.keys() == {"file", "row"}:
        values["file"] = str(values["file"]).rpartition("/")[2]
    return ", ".join(f"{name}={value}" for name, value in values.items())
