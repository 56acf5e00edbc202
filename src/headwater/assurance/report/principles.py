"""The section on supervision: the evidence for each principle, and what this run does not show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headwater.assurance.report.findings import casts, grain_findings, partial_note, undecided
from headwater.assurance.report.gather import ReportData
from headwater.assurance.report.intent import declared_nodes, owner, sql
from headwater.assurance.report.ledger import balance
from headwater.assurance.report.logic import column_paths, gaps
from headwater.assurance.report.manifest import manifest_hashes
from headwater.assurance.report.markup import Html, Part, count_of, join_parts, mark, table, tag
from headwater.formats.openlineage.facet_names import GRAIN_FACET, TYPES_FACET

_BUILT_IN_CLAIMS = ("manifest", "balance", "grain", "types")


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """Evidence on the page: its anchor, a summary, and whether it is good."""

    anchor: str
    says: str
    good: bool = True


Evidence = Callable[[ReportData], EvidenceItem | None]


def _lineage(case: ReportData) -> EvidenceItem | None:
    columns = len(column_paths(case)) or len({(e.downstream, e.downstream_column) for e in case.detail.column_edges})
    if not columns:
        return None
    unknown = len(gaps(case))
    but = f"; not through {count_of(unknown, 'step')}" if unknown else ""
    return EvidenceItem("columns", f"the path of {count_of(columns, 'column')} from their sources{but}")


def _owner(case: ReportData) -> EvidenceItem | None:
    result = owner(case)
    return None if result is None else EvidenceItem("intent", f"owned by {result}")


def _declaration(case: ReportData) -> EvidenceItem | None:
    nodes = declared_nodes(case)
    if nodes:
        return EvidenceItem("intent", count_of(len(nodes), "declared step"))
    return None if sql(case) is None else EvidenceItem("intent", "the declared query")


def _ledger(case: ReportData) -> EvidenceItem | None:
    balanced = balance(case)
    if balanced is None or balanced.holds is None:
        return None
    if not balanced.holds:
        return EvidenceItem("ledger", "the ledger is not balanced", False)
    in_words = "source rows accounted for, in number" if balanced.in_number else "each source row accounted for, once"
    return EvidenceItem("ledger", in_words)


def _grain(case: ReportData) -> EvidenceItem | None:
    if case.facet(GRAIN_FACET) is None:
        return None
    result, open_ones = grain_findings(case), len(undecided(case))
    failed = sum(item.get("holds") is not True for item in result)
    if not result and (open_ones or partial_note(case, GRAIN_FACET)):
        return None
    says = (
        f"{failed} of {count_of(len(result), 'check')} fail"
        if failed
        else f"{count_of(len(result), 'check')} of grain hold"
    )
    says += f", {open_ones} not decided" if open_ones else ""
    return EvidenceItem("grain", says + (", reported in part" if partial_note(case, GRAIN_FACET) else ""), not failed)


def _types(case: ReportData) -> EvidenceItem | None:
    if case.facet(TYPES_FACET) is None:
        return None
    lossy = sum(bool(cast.get("lossy")) for cast in casts(case))
    if partial_note(case, TYPES_FACET):
        return (
            EvidenceItem("types", f"{count_of(lossy, 'cast')} that may be lossy, reported in part") if lossy else None
        )
    return EvidenceItem("types", f"{count_of(lossy, 'cast')} that may be lossy, named" if lossy else "no lossy casts")


def _expectations(case: ReportData) -> EvidenceItem | None:
    declared = [invariant for invariant in case.invariants if invariant.name not in _BUILT_IN_CLAIMS]
    if not declared:
        return None
    failed = sum(not item.holds for item in declared)
    return EvidenceItem("invariants", f"{count_of(len(declared), 'declared expectation')}, {failed} broken", not failed)


def _times(case: ReportData) -> EvidenceItem | None:
    run = case.detail.run
    if run.started_at is None or run.ended_at is None:
        return None
    return EvidenceItem("intent", "start and end" + ("" if run.nominal_start is None else ", with the nominal time"))


def _states(*kinds: str) -> Evidence:
    def result(case: ReportData) -> EvidenceItem | None:
        hashed = [kind for kind, _, _ in manifest_hashes(case) if kind in kinds]
        return EvidenceItem("manifest", f"hashes of {', '.join(dict.fromkeys(hashed))}") if hashed else None

    return result


def _version(case: ReportData) -> EvidenceItem | None:
    version = None if case.certificate is None else case.certificate.contract_version
    return None if version is None else EvidenceItem("intent", f"contract version {version}")


def _certificate(case: ReportData) -> EvidenceItem | None:
    if case.certificate is None:
        return None
    return EvidenceItem("certificate", f"certificate number {case.certificate.number:,} of its chain")


def _log(case: ReportData) -> EvidenceItem | None:
    if case.verified is None:
        return EvidenceItem("log", "the evidence of this run fails verification", False)
    signed = f", {case.verified.signed} signed" if case.checkpoint is not None else ", not signed yet"
    return EvidenceItem("log", f"{count_of(len(case.verified.entries), 'entry', 'entries')} of the log{signed}")


NAMES: dict[Evidence, str] = {
    _lineage: "column lineage",
    _owner: "an owner",
    _declaration: "a declaration",
    _ledger: "a ledger of all rows",
    _grain: "checks of grain",
    _types: "checks of types",
    _expectations: "declared expectations",
    _times: "times",
    (_inputs := _states("input")): "hashes of inputs",
    (_outputs := _states("output")): "hashes of outputs",
    (_made_by := _states("code", "configuration", "design")): "hashes of code and design",
    _version: "a contract version",
    _certificate: "a certificate",
    _log: "entries of the log",
}
"""Names for missing evidence."""

PRINCIPLES: list[tuple[str, str, tuple[Evidence, ...]]] = [
    (
        "BCBS 239, principle 2: data architecture",
        "The sources of data are known down to the attribute, and so is its owner.",
        (_lineage, _owner),
    ),
    (
        "BCBS 239, principle 3: accuracy and integrity",
        "Data is reconciled with its sources and free of material error.",
        (_ledger, _grain, _types, _expectations),
    ),
    (
        "BCBS 239, principle 4: completeness",
        "All material data is included, and what is missing is known.",
        (_ledger, _inputs),
    ),
    ("BCBS 239, principle 5: timeliness", "Data is available in time, and its reference time is known.", (_times,)),
    (
        "BCBS 239, principle 7: accuracy of reports",
        "Reports are reconciled and validated against written rules.",
        (_expectations, _certificate),
    ),
    (
        "FRTB, MAR31: modellability of risk factors",
        "The data behind a risk factor can be traced to its sources, and its use can be shown.",
        (_lineage, _inputs),
    ),
    (
        "FRTB, MAR32: backtesting and P&L attribution",
        "The data, its state and the code behind a figure can be shown later.",
        (_inputs, _outputs, _made_by),
    ),
    (
        "EU AI Act, article 10 (2): origin and preparation of data",
        "Where data sets come from, and each operation that prepared them, is documented.",
        (_lineage, _declaration),
    ),
    (
        "EU AI Act, article 10 (3): quality of data",
        "Data sets are complete and free of errors, as far as possible, for their purpose.",
        (_ledger, _grain, _expectations),
    ),
    (
        "EU AI Act, article 11: technical documentation",
        "Design and data are documented, for the version in use.",
        (_declaration, _made_by, _version),
    ),
    (
        "EU AI Act, article 12: record-keeping",
        "Events are recorded automatically and reliably.",
        (_log, _certificate),
    ),
]


def principles(case: ReportData) -> Html:
    rows = [_row(case, *principle) for principle in PRINCIPLES]
    return join_parts(
        [
            table(["Principle", "Requirement", "Evidence in this page", ""], rows),
            tag(
                "p",
                "The table lists the evidence for each principle. Whether it suffices is for the reader to judge.",
                class_="dim",
            ),
        ]
    )


def _row(case: ReportData, name: str, asks: str, evidence: tuple[Evidence, ...]) -> list[Part]:
    answers = {NAMES[item]: item(case) for item in evidence}
    result = [shown for shown in answers.values() if shown is not None]
    missing = [what for what, shown in answers.items() if shown is None]
    parts = [tag("li", tag("a", shown.says, href=f"#{shown.anchor}")) for shown in result]
    if missing:
        parts.append(tag("li", f"not shown: {', '.join(missing)}", class_="dim"))
    return [tag("b", name), asks, tag("ul", *parts), _verdict(result, missing)]


def _verdict(result: list[EvidenceItem], missing: list[str]) -> Html:
    if not result:
        return mark(None, "not shown by this run")
    if not all(shown.good for shown in result):
        return mark(False, "shown, does not hold")
    return mark(None, "shown in part") if missing else mark(True, "shown")
