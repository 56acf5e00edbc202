"""Why an operator let none of the marked rows through, in a sentence, with the values that decided it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater.rows.why_not_path import ExpressionColumn, ExpressionFrame, OperatorPath, OperatorStep

if TYPE_CHECKING:
    from pyspark.sql import Column, Row

_MAX_EXAMPLES = 3
_ANTI_JOINS = {"anti join": "NOT EXISTS", "not in": "NOT IN", "except": "EXCEPT"}


@dataclass(frozen=True)
class StopReason:
    """``known``: whether it is more than a consequence of what was supposed before. ``last``: whether the rows' way
    ends here, whatever else there is."""

    explanation: str
    values: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    known: bool = True
    is_final: bool = False


class StopReasons:
    """``names``: of the sources, by their numbers."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def explain(self, path: OperatorPath, step: OperatorStep, before: int) -> StopReason:
        """``before``: how many marked rows came to the operator."""
        if step.kind in ("filter", "having", "window filter"):
            return self._explain_filter(path, step, before)
        if step.kind in _ANTI_JOINS:
            return self._explain_anti_join(path, step)
        if step.kind.endswith("join") or step.kind == "intersect":
            return self._explain_join(path, step)
        if step.kind in ("limit", "offset", "tail"):
            return self._explain_limit(path, step, before)
        if step.kind == "explode":
            return self._explain_explode(path, step)
        if step.kind in ("except all", "intersect all"):
            return self._explain_row_counts(path, step)
        if step.kind == "copies":
            return StopReason("as many copies as were left", known=False)
        if step.kind == "subquery":
            said = "the subquery was made of them, but no row came through the operator that uses its value"
            return StopReason(said, is_final=True)
        return StopReason(f"{step.text or step.operator} let none of them through")

    # ------------------------------------------------------------------------------------------ filters

    def _explain_filter(self, path: OperatorPath, step: OperatorStep, before: int) -> StopReason:
        shown = path.inspect("conditions", step)
        failing = _failed_conditions(shown)
        listed = [each for each in failing if not each.unknown]
        if not listed:
            return StopReason(f"{step.text}: what it is about is not known", known=False)
        parts, values = [], dict(listed[0].keys)
        for each in listed:
            parts.append(each.describe(before))
            values |= each.values
        told = "; ".join(parts)
        if step.kind == "having" and listed[0].keys:
            told = f"the group {_assignments(listed[0].keys)}: {told}"
        if step.kind == "window filter":
            told = f"{told}, which is {step.text.partition(' with ')[2]}"
        return StopReason(told, values, f"{step.text.partition(' ')[0]} {' AND '.join(each.text for each in listed)}")

    def _explain_row_counts(self, path: OperatorPath, step: OperatorStep) -> StopReason:
        found = _failed_conditions(path.inspect("conditions", step))[0]
        said = "has at least as many equal rows" if step.kind == "except all" else "has no equal row"
        return StopReason(f"the other side of {step.text} {said}: {_assignments(found.keys)}", found.keys)

    # ------------------------------------------------------------------------------------------ joins

    def _explain_join(self, path: OperatorPath, step: OperatorStep) -> StopReason:
        from pyspark.sql import functions as F

        shown = path.inspect("keys", step)
        keys = shown.with_role("key")
        if any(each.unknown for each in keys):
            return StopReason(f"{step.text}: its keys are not known", known=False)
        first = shown.frame.orderBy(*(each.column for each in keys), F.lit(1)).limit(1).collect()[0]
        values = {each.text: json_value(first[each.column]) for each in shown.expressions if each.column}
        text = self.operator_text(path, step)
        last = step.place == 1 and step.kind in ("semi join", "intersect")
        return StopReason(
            self._explain_missing_partner(path, step, keys, shown.with_role("rest"), first), values, text, is_final=last
        )

    def _explain_missing_partner(
        self,
        path: OperatorPath,
        step: OperatorStep,
        keys: list[ExpressionColumn],
        rest: list[ExpressionColumn],
        first: Row,
    ) -> str:
        empty = [each.text for each in keys if first[each.column] is None and not each.more["nullSafe"]]
        if empty:
            return f"{' and '.join(empty)} is NULL, which no key equals"
        sought = ", ".join(f"{each.more['otherKey']} = {_sql_literal(first[each.column])}" for each in keys)
        other = self.other_sources(step)
        found = path.partner_path(step) if keys else None
        if found is not None:
            counts = found.count_survivors()
            name = self._names[found.source]
            if counts[0] == 0:
                return f"no row of {name} has {sought}"
            gone = next((each for each in found.steps if each.visible and counts[each.number] == 0), None)
            if gone is not None:
                why = self.explain(found, gone, counts[gone.number - 1])
                return f"{name} has {sought}, but {why.text or gone.text} took it away there: {why.explanation}"
        partners = path.inspect("partners", step)
        if rest and (failing := _failed_conditions(partners)):
            there = f"{other} has {sought}, but " if keys else f"of all rows of {other}, none matches: "
            return there + "; ".join(each.describe(None) for each in failing)
        return f"no row of {other} has {sought}" if keys else f"{other} has no rows here"

    def _explain_anti_join(self, path: OperatorPath, step: OperatorStep) -> StopReason:
        words = _ANTI_JOINS[step.kind]
        other = self.other_sources(step)
        if step.place == 1:
            said = f"rows on the right of {words} only take rows away from the result, they are never part of it"
            return StopReason(said, {}, self.operator_text(path, step), is_final=True)
        from pyspark.sql import functions as F

        shown = path.inspect("blockers", step)
        here, there = shown.with_role("own"), shown.with_role("other")
        decided = [F.col(each.column).isNull() for each in (*here, *there)]
        rows = shown.frame.orderBy(*decided, F.lit(1)).limit(_MAX_EXAMPLES).collect()
        blockers = [{each.text: json_value(row[each.column]) for each in shown.with_role("blocker")} for row in rows]
        values = {"blocking rows": blockers}
        if step.kind == "not in":
            said = _explain_not_in(here, there, rows[0], other)
        elif step.kind == "except":
            said = f"an equal row is among {other}, which EXCEPT takes away: {_assignments(blockers[0])}"
        else:
            count = "1 row" if len(rows) == 1 else f"{len(rows)}{' or more' if len(rows) == _MAX_EXAMPLES else ''} rows"
            said = f"{other} has {count} that must not be there: {'; '.join(_assignments(each) for each in blockers)}"
        return StopReason(said, values, self.operator_text(path, step))

    def operator_text(self, path: OperatorPath, step: OperatorStep) -> str:
        """The operator in SQL, with the names of the sources that it joins."""
        if step.number == 0:
            return self._names[path.source]
        if not step.others or step.kind == "not in":
            return step.text
        sides = [self.other_sources(step), self._names[path.source]]
        words = step.kind.upper()
        joined = f"{words} {sides[0]}" if step.place == 0 else f"{sides[0]} {words} {sides[1]}"
        return joined if step.text == words else f"{joined} {step.text}".rstrip()

    def other_sources(self, step: OperatorStep) -> str:
        return ", ".join(dict.fromkeys(self._names[number] for number in step.others)) or "the other side"

    # ------------------------------------------------------------------------------------------ limits and the rest

    def _explain_limit(self, path: OperatorPath, step: OperatorStep, before: int) -> StopReason:
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        shown = path.inspect("ranking", step)
        mark = shown.with_role("mark")[0].column
        orders = shown.with_role("order")
        if any(each.unknown for each in shown.expressions):
            return StopReason(f"{step.text}: what it is ordered by is not known", known=False)
        if not orders or step.kind == "tail":
            total = shown.frame.count()
            said = f"{step.text} left it out of {total} rows, and nothing says in which order they come"
            return StopReason(said, {"rows": total}, step.text)
        window = Window.orderBy(*(_sort_column(each) for each in orders))
        ranked = shown.frame.select("*", F.rank().over(window).alias("__hw_rank")).where(F.col(mark))
        first = ranked.orderBy("__hw_rank").limit(1).collect()[0]
        rank = first["__hw_rank"]
        values = {"rank": rank} | {each.text: json_value(first[each.column]) for each in orders}
        order = ", ".join(each.text + ("" if each.more["ascending"] else " DESC") for each in orders)
        text = f"ORDER BY {order} {step.text}"
        number = int(step.text.split()[-1])
        who = "it" if before == 1 else f"the first of the {before} rows"
        place = f"{who} is number {rank} by {order} ({_assignments({each.text: values[each.text] for each in orders})})"
        if step.kind == "offset":
            return StopReason(f"{place}, and the first {number} are skipped", values, text)
        skipped = int(shown.with_role("mark")[0].more["skipped"])
        if skipped:
            return StopReason(f"{place}, and only {skipped + 1} to {skipped + number} are taken", values, text)
        if rank <= number:
            return StopReason(
                f"{place}, a place it shares with others, and {step.text} has no room for all", values, text
            )
        return StopReason(f"{place}, and only the first {number} are taken", values, text)

    def _explain_explode(self, path: OperatorPath, step: OperatorStep) -> StopReason:
        shown = path.inspect("values", step)
        row = shown.frame.limit(1).collect()[0]
        values = {each.text: json_value(row[each.column]) for each in shown.with_role("value")}
        return StopReason(f"{step.text} makes no row of it, as {_assignments(values)}", values)


def group_texts(path: OperatorPath, step: OperatorStep) -> list[str]:
    """The groups that the marked rows went into, a few of them."""
    shown = path.inspect("values", step)
    if not shown.expressions:
        return ["merged into the one row of all"]
    rows = shown.frame.distinct().take(_MAX_EXAMPLES)
    return [
        f"merged into the group {_assignments({each.text: row[each.column] for each in shown.expressions})}"
        for row in rows
    ]


@dataclass(frozen=True)
class _FailedCondition:
    text: str
    unknown: bool
    false: int
    null: int
    values: Mapping[str, Any]
    keys: Mapping[str, Any]

    def describe(self, of: int | None) -> str:
        """``of``: so many rows there are."""
        verdict = "NULL" if self.false == 0 else "false" if self.null == 0 else "false or NULL"
        failed = self.false + self.null
        share = "" if of in (None, 1) else f" for all {of} rows" if failed == of else f" for {failed} of {of} rows"
        example = ", as" if share == "" else ", for example where"
        return f"{self.text} is {verdict}{share}{f'{example} {_assignments(self.values)}' if self.values else ''}"


def _failed_conditions(shown: ExpressionFrame) -> list[_FailedCondition]:
    """The conditions that are not true for all rows, in one job."""
    from pyspark.sql import functions as F

    keys = shown.with_role("key")
    about: list[tuple[ExpressionColumn, list[ExpressionColumn]]] = []
    for each in shown.expressions:
        if each.role == "condition":
            about.append((each, []))
        elif each.role == "value":
            about[-1][1].append(each)
    columns: list[Column] = []
    for number, (condition, values) in enumerate(about):
        verdict = F.col(condition.column)
        told = F.struct(F.lit(1), *(F.col(each.column) for each in (*values, *keys)))
        columns += [
            F.count(F.when(~verdict, 1)).alias(f"false{number}"),
            F.count(F.when(verdict.isNull(), 1)).alias(f"null{number}"),
            F.first(F.when(~F.coalesce(verdict, F.lit(False)), told), ignorenulls=True).alias(f"told{number}"),
        ]
    row = shown.frame.agg(*columns).collect()[0]
    failing = []
    for number, (condition, values) in enumerate(about):
        false, null, told = row[f"false{number}"], row[f"null{number}"], row[f"told{number}"]
        if told is not None:
            at = {each.text: json_value(told[each.column]) for each in values}
            group = {each.text: json_value(told[each.column]) for each in keys}
            failing.append(_FailedCondition(condition.text, condition.unknown, false, null, at, group))
    return failing


def _explain_not_in(here: list[ExpressionColumn], there: list[ExpressionColumn], row: Row, other: str) -> str:
    for one, another in zip(here, there, strict=True):
        if row[one.column] is None:
            return f"{one.text} is NULL, and NOT IN is never true of NULL while {other} has rows"
        if row[another.column] is None:
            return f"{another.text} is NULL in a row of {other}, and nothing is NOT IN rows with a NULL"
    matched = ", ".join(f"{each.text} = {_sql_literal(row[each.column])}" for each in there)
    return f"{matched} is among the rows of {other}, which NOT IN takes away"


def _sort_column(said: ExpressionColumn) -> Column:
    from pyspark.sql import functions as F

    column = F.col(said.column)
    if said.more["ascending"]:
        return column.asc_nulls_first() if said.more["nullsFirst"] else column.asc_nulls_last()
    return column.desc_nulls_first() if said.more["nullsFirst"] else column.desc_nulls_last()


def json_value(value: Any) -> Any:
    """As JSON has it: numbers, texts, and what else there is by its text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [json_value(each) for each in value]
    return str(value)


def _sql_literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else str(value)


def _assignments(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_sql_literal(value)}" for name, value in values.items())
