"""Evidence in files: what was written, and whether it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.captured import volume
from headwater.cli.render.parts import data, joined, note
from headwater.cli.text import counted
from headwater.model.bundles import HandedOn, VerifiedBundle

_STATES = {True: "in the state that it left", False: "in another state than it left", None: "states not comparable"}


def bundle_written(answer: Mapping[str, Any]) -> RenderableType:
    return Group(
        joined(["The evidence is in ", data(answer["file"]), f", {volume(answer['bytes'])}."], ""),
        joined(["`headwater verify ", data(answer["file"]), "` checks it, without the store."], ""),
    )


def bundle_verdict(found: VerifiedBundle) -> RenderableType:
    entries = counted(len(found.entries), "entry", "entries")
    lines = [
        joined(
            [Text("The evidence holds", style="green"), ": run ", data(found.run_id), " of ", data(found.job, "cyan")],
            "",
        ),
        Text(
            f"{counted(found.events, 'event')}, {entries} of the log, each in the checkpoint of {found.checkpoint:,}."
        ),
    ]
    if found.number is None:
        lines.append(note("It has no certificate: the run did not end with a manifest."))
    else:
        lines.append(
            joined(["Certificate ", data(found.certificates[-1]), f", number {found.number} in its namespace."], "")
        )
    if found.broken:
        broken = joined(map(data, found.broken))
        lines.append(joined([Text("The run did not keep what was promised", style="bold red"), ": ", broken, "."], ""))
    if found.undecided:
        lines.append(joined([Text("Not decided", style="yellow"), ": ", joined(map(data, found.undecided)), "."], ""))
    lines += map(_handed_on, found.upstream)
    lines.append(joined(["Signed with ", data(found.key)], ""))
    if not found.trusted:
        lines.append(
            note("That key comes from the file and vouches for itself alone: --key names one you have from elsewhere.")
        )
    if found.anchored:
        lines.append(Text("The second place has this very checkpoint."))
    return Group(*lines)


def _handed_on(upstream: HandedOn) -> Text:
    names = joined(data(one, "cyan") for one in upstream.datasets)
    state = _STATES[upstream.same_state]
    return joined(["Read ", names, f", {state} by certificate ", data(upstream.certificate_id)], "")
