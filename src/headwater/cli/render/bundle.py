"""Evidence bundles: the written file, and the result of verifying one."""

from __future__ import annotations

from typing import TypedDict

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.captured import volume
from headwater.cli.render.parts import data, join, note
from headwater.cli.text import count_of
from headwater.model.bundles import RunHandoff, VerifiedBundle

_STATES = {True: "in the state it wrote", False: "in a different state", None: "states cannot be compared"}


class WrittenBundle(TypedDict):
    file: str
    bytes: int


def bundle_text(answer: WrittenBundle) -> RenderableType:
    return Group(
        join(["Evidence written to ", data(answer["file"]), f", {volume(answer['bytes'])}."], ""),
        join(["`headwater verify ", data(answer["file"]), "` verifies it without the store."], ""),
    )


def bundle_verification_text(result: VerifiedBundle) -> RenderableType:
    entries = count_of(len(result.entries), "entry", "entries")
    lines = [
        join(
            [
                Text("The evidence holds", style="green"),
                ": run ",
                data(result.run_id),
                " of ",
                data(result.job, "cyan"),
            ],
            "",
        ),
        Text(
            f"{count_of(result.events, 'event')}, {entries} of the log, all in the checkpoint at {result.checkpoint:,}."
        ),
    ]
    if result.number is None:
        lines.append(note("No certificate: the run has no manifest."))
    else:
        lines.append(
            join(["Certificate ", data(result.certificates[-1]), f", number {result.number} in its namespace."], "")
        )
    if result.broken:
        broken = join(map(data, result.broken))
        lines.append(join([Text("The run broke its declared checks", style="bold red"), ": ", broken, "."], ""))
    if result.undecided:
        lines.append(join([Text("Not decided", style="yellow"), ": ", join(map(data, result.undecided)), "."], ""))
    lines += map(_upstream_line, result.upstream)
    lines.append(join(["Signed with ", data(result.key)], ""))
    if not result.trusted:
        lines.append(
            note("The key is the file's own and says nothing about who signed. Name a key that you trust with --key.")
        )
    if result.anchored:
        lines.append(Text("The anchor has this checkpoint."))
    return Group(*lines)


def _upstream_line(upstream: RunHandoff) -> Text:
    names = join(data(dataset, "cyan") for dataset in upstream.datasets)
    state = _STATES[upstream.same_state]
    return join(["Read ", names, f", {state} by certificate ", data(upstream.certificate_id)], "")
