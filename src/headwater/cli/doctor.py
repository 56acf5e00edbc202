"""`headwater doctor`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import show


def doctor(
    spark: Annotated[
        bool, typer.Option("--spark", help="Also run a small Spark job, capture it and query its lineage.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Check this installation and say how to fix it. Exit 1 if a check fails."""
    from headwater.capturing import spool_folder
    from headwater.cli.render.doctor import findings_table
    from headwater.doctor.checks import examine
    from headwater.doctor.findings import CheckStatus, DoctorOptions

    result = examine(DoctorOptions(store, spool_folder(store), spark))
    sound = all(finding.sign is not CheckStatus.FAILED for finding in result)
    show({"ok": sound, "checks": result}, as_json, lambda _: findings_table(result))
    if not sound:
        raise typer.Exit(1)
