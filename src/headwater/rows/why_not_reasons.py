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
    """``known``: whether it is more than a consequence of earlier assumptions. ``is_final``: whether the rows' path
    ends here in any case."""

    explanation: str
    values: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    known: bool = True
    is_final: bool = False


class StopReasons:
    """``names``: the names of the sources, by their numbers."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def explain(self, path: OperatorPath, step: OperatorStep, before: int) -> StopReason:
        """``before``: how many marked rows reached the operator."""
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
        if step.kind == "first row":
            return self._explain_first_row(path, step)
        if step.kind == "sample":
            return StopReason("the sample did not take it")
        if step.kind == "copies":
            return StopReason("as many copies as were left", known=False)
        if step.kind == "subquery":
            explanation = "the subquery was made of them, but no row came through the operator that uses its value"
            return StopReason(explanation, is_final=True)
        return StopReason(f"{step.text or step.operator} let none of them through")

    # ------------------------------------------------------------------------------------------ filters

    def _explain_filter(self, path: OperatorPath, step: OperatorStep, before: int) -> StopReason:
        shown = path.inspect("conditions", step)
        failed = _failed_conditions(shown)
        known_conditions = [condition for condition in failed if not condition.unknown]
        if not known_conditions:
            return StopReason(f"{step.text}: what it is about is not known", known=False)
        parts, values = [], dict(known_conditions[0].keys)
        for condition in known_conditions:
            parts.append(condition.describe(before))
            values |= condition.values
        explanation = "; ".join(parts)
        if step.kind == "having" and known_conditions[0].keys:
            explanation = f"the group {_assignments(known_conditions[0].keys)}: {explanation}"
        if step.kind == "window filter":
            explanation = f"{explanation}, which is {step.text.partition(' with ')[2]}"
        return StopReason(
            explanation,
            values,
            f"{step.text.partition(' ')[0]} {' AND '.join(condition.text for condition in known_conditions)}",
        )

    def _explain_row_counts(self, path: OperatorPath, step: OperatorStep) -> StopReason:
        condition = _failed_conditions(path.inspect("conditions", step))[0]
        comparison = "has at least as many equal rows" if step.kind == "except all" else "has no equal row"
        return StopReason(f"the other side of {step.text} {comparison}: {_assignments(condition.keys)}", condition.keys)

    # ------------------------------------------------------------------------------------------ joins

    def _explain_join(self, path: OperatorPath, step: OperatorStep) -> StopReason:
        from pyspark.sql import functions as F

        shown = path.inspect("keys", step)
        keys = shown.with_role("key")
        if any(expression.unknown for expression in keys):
            return StopReason(f"{step.text}: its keys are not known", known=False)
        first = shown.frame.orderBy(*(expression.column for expression in keys), F.lit(1)).limit(1).collect()[0]
        values = {
            expression.text: json_value(first[expression.column])
            for expression in shown.expressions
            if expression.column
        }
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
        null_keys = [
            expression.text
            for expression in keys
            if first[expression.column] is None and not expression.more["nullSafe"]
        ]
        if null_keys:
            return f"{' and '.join(null_keys)} is NULL, which no key equals"
        wanted = ", ".join(
            f"{expression.more['otherKey']} = {_sql_literal(first[expression.column])}" for expression in keys
        )
        other_name = self.other_sources(step)
        source_path = path.partner_path(step) if keys else None
        if source_path is not None:
            counts = source_path.count_survivors()
            name = self._names[source_path.source]
            if counts[0] == 0:
                return f"no row of {name} has {wanted}"
            stopping_step = next(
                (candidate for candidate in source_path.steps if candidate.visible and counts[candidate.number] == 0),
                None,
            )
            if stopping_step is not None:
                reason = self.explain(source_path, stopping_step, counts[stopping_step.number - 1])
                operator = reason.text or stopping_step.text
                return f"{name} has {wanted}, but {operator} removed it there: {reason.explanation}"
        partners = path.inspect("partners", step)
        if rest and (failing := _failed_conditions(partners)):
            subject = f"{other_name} has {wanted}, but " if keys else f"of all rows of {other_name}, none matches: "
            return subject + "; ".join(expression.describe(None) for expression in failing)
        return f"no row of {other_name} has {wanted}" if keys else f"{other_name} has no rows here"

    def _explain_anti_join(self, path: OperatorPath, step: OperatorStep) -> StopReason:
        words = _ANTI_JOINS[step.kind]
        other_name = self.other_sources(step)
        if step.place == 1:
            explanation = f"rows on the right of {words} only take rows away from the result, they are never part of it"
            return StopReason(explanation, {}, self.operator_text(path, step), is_final=True)
        from pyspark.sql import functions as F

        shown = path.inspect("blockers", step)
        own_columns, other_columns = shown.with_role("own"), shown.with_role("other")
        decided = [F.col(expression.column).isNull() for expression in (*own_columns, *other_columns)]
        rows = shown.frame.orderBy(*decided, F.lit(1)).limit(_MAX_EXAMPLES).collect()
        blockers = [
            {expression.text: json_value(row[expression.column]) for expression in shown.with_role("blocker")}
            for row in rows
        ]
        values = {"blocking rows": blockers}
        if step.kind == "not in":
            explanation = _explain_not_in(own_columns, other_columns, rows[0], other_name)
        elif step.kind == "except":
            explanation = f"an equal row is among {other_name}, which EXCEPT takes away: {_assignments(blockers[0])}"
        else:
            count = "1 row" if len(rows) == 1 else f"{len(rows)}{' or more' if len(rows) == _MAX_EXAMPLES else ''} rows"
            examples = "; ".join(map(_assignments, blockers))
            explanation = f"{other_name} has {count} that must not be there: {examples}"
        return StopReason(explanation, values, self.operator_text(path, step))

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
        mark_column = shown.with_role("mark")[0].column
        orders = shown.with_role("order")
        if any(expression.unknown for expression in shown.expressions):
            return StopReason(f"{step.text}: what it is ordered by is not known", known=False)
        if not orders or step.kind == "tail":
            total = shown.frame.count()
            explanation = f"{step.text} left it out of {total} rows, and nothing says in which order they come"
            return StopReason(explanation, {"rows": total}, step.text)
        window = Window.orderBy(*(_sort_column(expression) for expression in orders))
        ranked = shown.frame.select("*", F.rank().over(window).alias("__hw_rank")).where(F.col(mark_column))
        first = ranked.orderBy("__hw_rank").limit(1).collect()[0]
        rank = first["__hw_rank"]
        values = {"rank": rank} | {expression.text: json_value(first[expression.column]) for expression in orders}
        order = ", ".join(expression.text + ("" if expression.more["ascending"] else " DESC") for expression in orders)
        text = f"ORDER BY {order} {step.text}"
        number = int(step.text.split()[-1])
        subject = "it" if before == 1 else f"the first of the {before} rows"
        sort_values = _assignments({expression.text: values[expression.text] for expression in orders})
        place = f"{subject} is number {rank} by {order} ({sort_values})"
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

    def _explain_first_row(self, path: OperatorPath, step: OperatorStep) -> StopReason:
        """Of `dropDuplicates`, and of groups that only take first values."""
        shown = path.inspect("values", step)
        rows = shown.frame.distinct().take(_MAX_EXAMPLES) if shown.expressions else []
        groups = [
            {expression.text: json_value(row[expression.column]) for expression in shown.expressions} for row in rows
        ]
        which = "; ".join(map(_assignments, groups)) or "all rows"
        text = f"dropDuplicates, {step.text}"
        return StopReason(f"another row was taken for {which}", groups[0] if groups else {}, text)

    def _explain_explode(self, path: OperatorPath, step: OperatorStep) -> StopReason:
        shown = path.inspect("values", step)
        row = shown.frame.limit(1).collect()[0]
        values = {expression.text: json_value(row[expression.column]) for expression in shown.with_role("value")}
        return StopReason(f"{step.text} makes no row of it, as {_assignments(values)}", values)


def group_texts(path: OperatorPath, step: OperatorStep) -> list[str]:
    """Texts for some of the groups that the marked rows went into."""
    shown = path.inspect("values", step)
    if not shown.expressions:
        return ["merged into the one row of all"]
    rows = shown.frame.distinct().take(_MAX_EXAMPLES)
    groups = [{expression.text: row[expression.column] for expression in shown.expressions} for row in rows]
    return [f"merged into the group {_assignments(group)}" for group in groups]


@dataclass(frozen=True)
class _FailedCondition:
    text: str
    unknown: bool
    false: int
    null: int
    values: Mapping[str, Any]
    keys: Mapping[str, Any]

    def describe(self, row_count: int | None) -> str:
        """``row_count``: the number of rows, if it is known."""
        verdict = "NULL" if self.false == 0 else "false" if self.null == 0 else "false or NULL"
        failed = self.false + self.null
        share = (
            ""
            if row_count in (None, 1)
            else f" for all {row_count} rows"
            if failed == row_count
            else f" for {failed} of {row_count} rows"
        )
        example = ", as" if share == "" else ", for example where"
        return f"{self.text} is {verdict}{share}{f'{example} {_assignments(self.values)}' if self.values else ''}"


def _failed_conditions(shown: ExpressionFrame) -> list[_FailedCondition]:
    """The conditions that are not true for all rows, found in one job."""
    from pyspark.sql import functions as F

    keys = shown.with_role("key")
    conditions: list[tuple[ExpressionColumn, list[ExpressionColumn]]] = []
    for expression in shown.expressions:
        if expression.role == "condition":
            conditions.append((expression, []))
        elif expression.role == "value":
            conditions[-1][1].append(expression)
    columns: list[Column] = []
    for number, (condition, values) in enumerate(conditions):
        verdict = F.col(condition.column)
        example = F.struct(F.lit(1), *(F.col(expression.column) for expression in (*values, *keys)))
        columns += [
            F.count(F.when(~verdict, 1)).alias(f"false{number}"),
            F.count(F.when(verdict.isNull(), 1)).alias(f"null{number}"),
            F.first(F.when(~F.coalesce(verdict, F.lit(False)), example), ignorenulls=True).alias(f"example{number}"),
        ]
    row = shown.frame.agg(*columns).collect()[0]
    failing = []
    for number, (condition, values) in enumerate(conditions):
        false, null, example = row[f"false{number}"], row[f"null{number}"], row[f"example{number}"]
        if example is not None:
            example_values = {expression.text: json_value(example[expression.column]) for expression in values}
            group = {expression.text: json_value(example[expression.column]) for expression in keys}
            failing.append(_FailedCondition(condition.text, condition.unknown, false, null, example_values, group))
    return failing


def _explain_not_in(
    own_columns: list[ExpressionColumn], other_columns: list[ExpressionColumn], row: Row, other_name: str
) -> str:
    for own, matched_column in zip(own_columns, other_columns, strict=True):
        if row[own.column] is None:
            return f"{own.text} is NULL, and NOT IN is never true of NULL while {other_name} has rows"
        if row[matched_column.column] is None:
            return f"{matched_column.text} is NULL in a row of {other_name}, and nothing is NOT IN rows with a NULL"
    matched = ", ".join(f"{column.text} = {_sql_literal(row[column.column])}" for column in other_columns)
    return f"{matched} is among the rows of {other_name}, which NOT IN takes away"


def _sort_column(expression: ExpressionColumn) -> Column:
    from pyspark.sql import functions as F

    column = F.col(expression.column)
    if expression.more["ascending"]:
        return column.asc_nulls_first() if expression.more["nullsFirst"] else column.asc_nulls_last()
    return column.desc_nulls_first() if expression.more["nullsFirst"] else column.desc_nulls_last()


def json_value(value: Any) -> Any:
    """The value for JSON: numbers and texts as they are, other values by their text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    return str(value)


def _sql_literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else str(value)


def _assignments(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_sql_literal(value)}" for name, value in values.items())
