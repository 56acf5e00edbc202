"""Evidence in files: what was written, and whether it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.captured import volume
from headwater.cli.render.parts import data, join, note
from headwater.cli.text import count_of
from headwater.model.bundles import HandedOn, VerifiedBundle

_STATES = {True: "in the state it wrote", False: "in a different state", None: "states cannot be compared"}


def bundle_text(answer: Mapping[str, Any]) -> RenderableType:
    return Group(
        join(["Evidence written to ", data(answer["file"]), f", {volume(answer['bytes'])}."], ""),
        join(["`headwater verify ", data(answer["file"]), "` verifies it without the store."], ""),
    )


def bundle_verification_text(found: VerifiedBundle) -> RenderableType:
    entries = count_of(len(found.entries), "entry", "entries")
    lines = [
        join(
            [Text("The evidence holds", style="green"), ": run ", data(found.run_id), " of ", data(found.job, "cyan")],
            "",
        ),
        Text(
            f"{count_of(found.events, 'event')}, {entries} of the log, all in the checkpoint at {found.checkpoint:,}."
        ),
    ]
    if found.number is None:
        lines.append(note("No certificate: the run has no manifest."))
    else:
        lines.append(
            join(["Certificate ", data(found.certificates[-1]), f", number {found.number} in its namespace."], "")
        )
    if found.broken:
        broken = join(map(data, found.broken))
        lines.append(join([Text("The run broke its declared checks", style="bold red"), ": ", broken, "."], ""))
    if found.undecided:
        lines.append(join([Text("Not decided", style="yellow"), ": ", join(map(data, found.undecided)), "."], ""))
    lines += map(_upstream_line, found.upstream)
    lines.append(join(["Signed with ", data(found.key)], ""))
    if not found.trusted:
        lines.append(
            note("The key is the file's own and says nothing about who signed. Name a key that you trust with --key.")
        )
    if found.anchored:
        lines.append(Text("The anchor has this checkpoint."))
    return Group(*lines)


def _upstream_line(upstream: HandedOn) -> Text:
    names = join(data(dataset, "cyan") for dataset in upstream.datasets)
    state = _STATES[upstream.same_state]
    return join(["Read ", names, f", {state} by certificate ", data(upstream.certificate_id)], "")
