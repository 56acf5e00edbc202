"""The whole page: one HTML file without scripts or external resources."""

from __future__ import annotations

from collections.abc import Iterator

from headwater.assurance.report.gather import ReportData
from headwater.assurance.report.intent import intent
from headwater.assurance.report.ledger import balance
from headwater.assurance.report.logic import logic
from headwater.assurance.report.markup import Html, as_html, code, join_parts, mark, tag
from headwater.assurance.report.principles import principles
from headwater.assurance.report.proof import proof
from headwater.assurance.report.shapes import accounts
from headwater.assurance.report.style import STYLE
from headwater.formats.openlineage.facet_names import LEDGER_FACET
from headwater.model.runs import RunState

# Should a name ever get past the escaping, it still could neither run nor fetch anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_SECTIONS = (
    ("intent", "Intent", "What the run was meant to do, and who owns it.", intent),
    ("logic", "Logic", "What it did to the data, step by step and column by column.", logic),
    ("proof", "Proof", "The proofs of both.", proof),
    ("principles", "Principles", "The evidence for each rule of supervision.", principles),
)


def page(case: ReportData) -> str:
    run = case.detail.run
    title = f"Assurance report: {run.job}"
    head = join_parts(
        [
            Html('<meta charset="utf-8">'),
            Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            tag("title", title),
            tag("style", Html(STYLE)),
        ]
    )
    body = tag(
        "main",
        tag(
            "header",
            tag("p", "Assurance report", class_="dim"),
            tag("h1", str(run.job)),
            tag("p", "Run ", code(run.run_id)),
        ),
        _verdict(case),
        tag("ul", *_truth(case), class_="truth"),
        tag("nav", *(tag("a", name, href=f"#{anchor}") for anchor, name, _, _ in _SECTIONS)),
        *(_section(case, *section) for section in _SECTIONS),
        tag(
            "footer",
            f"Written by Headwater on {case.written_at:%Y-%m-%d %H:%M:%S} UTC from the store's events and log.",
        ),
    )
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'


def _section(case: ReportData, anchor: str, name: str, about: str, render: object) -> Html:
    assert callable(render)
    return tag("section", tag("h2", name), tag("p", about, class_="dim"), as_html(render(case)), id=anchor)


def _verdict(case: ReportData) -> Html:
    """The verdict on top, with an icon besides its colour."""
    if case.failures:
        kind, holds, verdict = "bad", False, "This run failed its checks"
    elif case.gaps:
        kind, holds, verdict = "open", None, "Nothing failed, but not everything is proven"
    else:
        kind, holds, verdict = "good", True, "All checks of this run hold, and its certificate is in the signed log"
    listed = [tag("li", concern) for concern in case.concerns]
    return tag(
        "div", mark(holds, verdict), tag("ul", *listed) if listed else None, class_=f"verdict {kind}", role="status"
    )


def _truth(case: ReportData) -> Iterator[Html]:
    """A summary of the run in one line."""
    run = case.detail.run
    state = True if run.state is RunState.COMPLETE else False if run.state.terminal else None
    yield tag("li", mark(state, run.state.value))
    ledger = case.facet(LEDGER_FACET)
    if ledger is None:
        yield tag("li", mark(None, "no ledger"))
    else:
        result = balance(case)
        balanced = None if result is None else result.holds
        balance_text = {True: "balanced", False: "not balanced", None: "balance not known"}[balanced]
        yield tag("li", mark(balanced, balance_text))
        read = [account.read for account in accounts(ledger) if account.read is not None]
        if read:
            yield tag("li", f"{sum(read):,} rows read")
    certificate = case.certificate
    yield tag("li", mark(None, "no certificate") if certificate is None else f"certificate {certificate.number:,}")
    if case.broken is not None:
        yield tag("li", mark(False, "evidence fails verification"))
    else:
        yield tag("li", mark(True, "signed") if case.inclusion is not None else mark(None, "not signed"))
