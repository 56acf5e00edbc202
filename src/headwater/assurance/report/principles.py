"""Which evidence on the page speaks to which principle of supervision, and what this run does not show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headwater.assurance.report.findings import casts, grain_findings, looked_in_part, undecided
from headwater.assurance.report.gather import Case
from headwater.assurance.report.intent import declared_nodes, owner, sql
from headwater.assurance.report.ledger import balance
from headwater.assurance.report.logic import column_paths, gaps
from headwater.assurance.report.manifest import manifest_hashes
from headwater.assurance.report.markup import Html, Part, counted, joined, mark, table, tag
from headwater.formats.openlineage.facet_names import GRAIN_FACET, TYPES_FACET

_OURS = ("manifest", "balance", "grain", "types")


@dataclass(frozen=True, slots=True)
class Shown:
    """Evidence that is there: where on the page, what it says, and whether what it says is good."""

    anchor: str
    says: str
    good: bool = True


Evidence = Callable[[Case], Shown | None]


def _lineage(case: Case) -> Shown | None:
    columns = len(column_paths(case)) or len({(e.downstream, e.downstream_column) for e in case.detail.column_edges})
    if not columns:
        return None
    unknown = len(gaps(case))
    but = f"; not through {counted(unknown, 'step')}" if unknown else ""
    return Shown("columns", f"the way of {counted(columns, 'column')} from their sources{but}")


def _owner(case: Case) -> Shown | None:
    found = owner(case)
    return None if found is None else Shown("intent", f"owned by {found}")


def _declared(case: Case) -> Shown | None:
    nodes = declared_nodes(case)
    if nodes:
        return Shown("intent", counted(len(nodes), "declared step"))
    return None if sql(case) is None else Shown("intent", "the declared query")


def _ledger(case: Case) -> Shown | None:
    balanced = balance(case)
    if balanced is None or balanced.holds is None:
        return None
    if not balanced.holds:
        return Shown("ledger", "the ledger is not balanced", False)
    in_words = "source rows accounted for, in number" if balanced.in_number else "each source row accounted for, once"
    return Shown("ledger", in_words)


def _grain(case: Case) -> Shown | None:
    if case.facet(GRAIN_FACET) is None:
        return None
    found, open_ones = grain_findings(case), len(undecided(case))
    failed = sum(each.get("holds") is not True for each in found)
    if not found and (open_ones or looked_in_part(case, GRAIN_FACET)):
        return None
    says = (
        f"{failed} of {counted(len(found), 'check')} fail"
        if failed
        else f"{counted(len(found), 'check')} of grain hold"
    )
    says += f", {open_ones} not decided" if open_ones else ""
    return Shown("grain", says + (", told in part" if looked_in_part(case, GRAIN_FACET) else ""), not failed)


def _types(case: Case) -> Shown | None:
    if case.facet(TYPES_FACET) is None:
        return None
    lossy = sum(bool(each.get("lossy")) for each in casts(case))
    if looked_in_part(case, TYPES_FACET):
        return Shown("types", f"{counted(lossy, 'cast')} that may lose something, told in part") if lossy else None
    return Shown(
        "types", f"{counted(lossy, 'cast')} that may lose something, named" if lossy else "no cast loses anything"
    )


def _expectations(case: Case) -> Shown | None:
    declared = [each for each in case.invariants if each.name not in _OURS]
    if not declared:
        return None
    failed = sum(not each.holds for each in declared)
    return Shown("invariants", f"{counted(len(declared), 'declared expectation')}, {failed} broken", not failed)


def _times(case: Case) -> Shown | None:
    run = case.detail.run
    if run.started_at is None or run.ended_at is None:
        return None
    return Shown("intent", "when it began and ended" + ("" if run.nominal_start is None else ", and for which time"))


def _states(*kinds: str) -> Evidence:
    def found(case: Case) -> Shown | None:
        hashed = [kind for kind, _, _ in manifest_hashes(case) if kind in kinds]
        return Shown("manifest", f"hashes of {', '.join(dict.fromkeys(hashed))}") if hashed else None

    return found


def _version(case: Case) -> Shown | None:
    version = None if case.certificate is None else case.certificate.contract_version
    return None if version is None else Shown("intent", f"contract version {version}")


def _certificate(case: Case) -> Shown | None:
    if case.certificate is None:
        return None
    return Shown("certificate", f"certificate number {case.certificate.number:,} of its chain")


def _log(case: Case) -> Shown | None:
    if case.verified is None:
        return Shown("log", "the record of this run does not hold", False)
    signed = f", {case.verified.signed} signed" if case.checkpoint is not None else ", not signed yet"
    return Shown("log", f"{counted(len(case.verified.entries), 'entry', 'entries')} of the log{signed}")


NAMES: dict[Evidence, str] = {
    _lineage: "column lineage",
    _owner: "an owner",
    _declared: "a declaration",
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
"""What is missing where there is none."""

PRINCIPLES: list[tuple[str, str, tuple[Evidence, ...]]] = [
    (
        "BCBS 239, principle 2: data architecture",
        "Where data comes from is known down to the attribute, and who owns it.",
        (_lineage, _owner),
    ),
    (
        "BCBS 239, principle 3: accuracy and integrity",
        "Data is reconciled with its sources and free of material error.",
        (_ledger, _grain, _types, _expectations),
    ),
    (
        "BCBS 239, principle 4: completeness",
        "All data that matters is in it, and what is missing is known.",
        (_ledger, _inputs),
    ),
    ("BCBS 239, principle 5: timeliness", "Data is there in time, and for which time is known.", (_times,)),
    (
        "BCBS 239, principle 7: accuracy of reports",
        "What is reported is reconciled and validated against rules that are written down.",
        (_expectations, _certificate),
    ),
    (
        "FRTB, MAR31: modellability of risk factors",
        "The data behind a risk factor can be traced to its sources, and is the data that was used.",
        (_lineage, _inputs),
    ),
    (
        "FRTB, MAR32: backtesting and P&L attribution",
        "Which data in which state, by which code, led to a figure can be shown later.",
        (_inputs, _outputs, _made_by),
    ),
    (
        "EU AI Act, article 10 (2): origin and preparation of data",
        "Where data sets come from, and each operation that prepared them, is documented.",
        (_lineage, _declared),
    ),
    (
        "EU AI Act, article 10 (3): quality of data",
        "Data sets are complete and free of errors, as far as can be, for what they are meant for.",
        (_ledger, _grain, _expectations),
    ),
    (
        "EU AI Act, article 11: technical documentation",
        "Design and data are documented, and the documents are of the version in use.",
        (_declared, _made_by, _version),
    ),
    (
        "EU AI Act, article 12: record-keeping",
        "Events are recorded automatically, and the record can be relied on.",
        (_log, _certificate),
    ),
]


def principles(case: Case) -> Html:
    rows = [_row(case, *principle) for principle in PRINCIPLES]
    return joined(
        [
            table(["Principle", "What it asks", "Evidence in this page", ""], rows),
            tag(
                "p",
                "Told is which evidence speaks to which principle. Whether it suffices is for the reader to judge.",
                class_="dim",
            ),
        ]
    )


def _row(case: Case, name: str, asks: str, evidence: tuple[Evidence, ...]) -> list[Part]:
    answers = {NAMES[each]: each(case) for each in evidence}
    found = [shown for shown in answers.values() if shown is not None]
    missing = [what for what, shown in answers.items() if shown is None]
    parts = [tag("li", tag("a", shown.says, href=f"#{shown.anchor}")) for shown in found]
    if missing:
        parts.append(tag("li", f"not shown: {', '.join(missing)}", class_="dim"))
    return [tag("b", name), asks, tag("ul", *parts), _verdict(found, missing)]


def _verdict(found: list[Shown], missing: list[str]) -> Html:
    if not found:
        return mark(None, "not shown by this run")
    if not all(shown.good for shown in found):
        return mark(False, "shown, does not hold")
    return mark(None, "shown in part") if missing else mark(True, "shown")
