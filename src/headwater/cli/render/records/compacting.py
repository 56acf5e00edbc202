"""Renders the result of a compaction, and the batches of a stream."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import RenderableType
from rich.text import Text

from headwater.cli.output import console, print_json
from headwater.cli.render.parts import data, properties
from headwater.cli.text import count_of
from headwater.records.compaction.result import CompactionResult


def compaction_summary(answer: CompactionResult) -> RenderableType:
    if answer.id is None:
        expired = f" {count_of(answer.expired, 'hot record')} expired." if answer.expired else ""
        return Text(f"There is nothing to archive.{expired}")
    days = ", ".join(day.isoformat() for day in answer.days)
    lines = [
        ("Days", Text(days)),
        ("Archived", Text(f"{count_of(answer.archived, 'record')} of {answer.read:,} read")),
        ("Already archived", Text(f"{answer.already_there:,}")),
        ("Traces", Text(f"{answer.traces:,}")),
        ("Rebuilt", Text(count_of(answer.rebuilt, "root"))),
        ("Expired", Text(count_of(answer.expired, "hot record"))),
        ("Archive", data(answer.location)),
        ("Run", Text(str(answer.run_id))),
    ]
    return properties(
        [line for line in lines if not (line[0] in ("Already archived", "Rebuilt") and _is_none(line[1]))]
    )


def _is_none(text: Text) -> bool:
    return text.plain.split(" ")[0] == "0"


class StreamReport:
    """Prints a line for each batch, and the totals at the end."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._totals = dict.fromkeys(("batches", "read", "archived", "already_there", "refused", "traces"), 0)

    def batch(self, result: CompactionResult) -> None:
        counts = {
            "batches": 1,
            "read": result.read,
            "archived": result.archived,
            "already_there": result.already_there,
            "refused": result.refused,
            "traces": result.traces,
        }
        for name, count in counts.items():
            self._totals[name] += count
        if not self._as_json:
            console().print(Text(f"{_words(counts)}."))

    def summary(self) -> None:
        if self._as_json:
            print_json(self._totals)
        else:
            console().print(Text(f"{count_of(self._totals['batches'], 'batch', 'batches')}: {_words(self._totals)}."))


def _words(counts: Mapping[str, int]) -> str:
    words = [f"{count_of(counts['read'], 'record')} read", f"{counts['archived']:,} archived"]
    words += [f"{counts['already_there']:,} already archived"] if counts["already_there"] else []
    words += [f"{counts['refused']:,} refused, see `headwater records dead-letters`"] if counts["refused"] else []
    return ", ".join(words)
