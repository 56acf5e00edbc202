"""The findings of `headwater doctor` with their remedies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from headwater.cli.render.parts import data, note
from headwater.cli.text import count_of
from headwater.doctor.findings import CheckStatus, Finding

_STYLES = {CheckStatus.OK: "green", CheckStatus.WARNING: "yellow", CheckStatus.FAILED: "bold red"}


def findings_table(findings: Sequence[Finding]) -> Group:
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    grid.add_column(no_wrap=True)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for finding in findings:
        grid.add_row(Text(finding.sign.value, style=_STYLES[finding.sign]), finding.check, data(finding.found))
        if finding.remedy is not None:
            grid.add_row("", "", Text.assemble("→ ", data(finding.remedy)))
    signs = Counter(finding.sign for finding in findings)
    warnings = count_of(signs[CheckStatus.WARNING], "warning")
    failures = f"{signs[CheckStatus.FAILED]} failed" if signs[CheckStatus.FAILED] else "Nothing failed"
    return Group(grid, Text(), note(f"{failures}, {warnings}."))
