"""Every mention of a table in a query under a name of its own, `orders__3`: what replaces one leaves the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import sqlglot
from sqlglot import exp


@dataclass(frozen=True)
class Named:
    """A query whose every base table is mentioned once."""

    spark: str
    duck: str
    tables: Mapping[str, str]  # by name: the table that it is an occurrence of
    negated: frozenset[str]  # names whose rows can only ever keep an output row away
    shared: str = ""  # the query before, in Spark's words

    @property
    def repeats(self) -> bool:
        """Whether a table is there more than once."""
        return len(set(self.tables.values())) < len(self.tables)


def occurrence_names(sql: str, tables: Collection[str], duck: str | None = None) -> Named:
    """``duck`` is the same query in DuckDB's words, where sqlglot cannot find them from Spark's."""
    tree = sqlglot.parse_one(sql, read="spark")
    other = sqlglot.parse_one(duck, read="duckdb") if duck is not None else tree
    names = _rename(tree, tables)
    if other is not tree and _rename(other, tables) != names:
        raise ValueError(f"Not the same tables in the same order:\n{sql}\n{duck}")
    negated = frozenset(table.name for table in tree.find_all(exp.Table) if table.name in names and _negated(table))
    return Named(tree.sql("spark"), other.sql("duckdb"), names, negated, sql)


def _rename(tree: exp.Expr, tables: Collection[str]) -> dict[str, str]:
    split_ctes(tree)
    names: dict[str, str] = {}
    for table in list(tree.find_all(exp.Table, bfs=False)):
        if table.name in tables and not _is_cte(table):
            known_as = table.alias_or_name
            name = f"{table.name}__{len(names) + 1}"
            names[name] = table.name
            table.set("this", exp.to_identifier(name))
            table.set("alias", exp.TableAlias(this=exp.to_identifier(known_as)))
    return names


def split_ctes(tree: exp.Expr) -> None:
    """A CTE that is used n times becomes n CTEs: Spark's plan has its leaves n times too."""
    for clause in list(tree.find_all(exp.With)):
        for cte in reversed(list(clause.expressions)):  # a later one may use an earlier one
            uses = [table for table in clause.parent.find_all(exp.Table) if _uses(table, clause, cte)]  # type: ignore[union-attr]
            copies = [cte.copy() for _ in uses[1:]]
            for number, (table, copy) in enumerate(zip(uses[1:], copies, strict=True), 2):
                known_as = table.alias_or_name
                copy.args["alias"].set("this", exp.to_identifier(f"{cte.alias}_{number}"))
                table.set("this", exp.to_identifier(f"{cte.alias}_{number}"))
                table.set("alias", exp.TableAlias(this=exp.to_identifier(known_as)))
            place = clause.expressions.index(cte)
            clause.set("expressions", [*clause.expressions[: place + 1], *copies, *clause.expressions[place + 1 :]])


def _uses(table: exp.Table, clause: exp.With, cte: exp.Expr) -> bool:
    return table.name.lower() == cte.alias.lower() and _definition(table) == (clause, cte)


def _definition(table: exp.Table) -> tuple[exp.With, exp.Expr] | None:
    """The CTE that a mention means: the nearest one around it of that name."""
    scope: exp.Expr | None = table
    while scope is not None:
        clause = scope.args.get("with_")
        if isinstance(clause, exp.With):
            for cte in clause.expressions:
                if cte.alias.lower() == table.name.lower() and cte not in _ancestors(table):
                    return clause, cte
        scope = scope.parent
    return None


def _is_cte(table: exp.Table) -> bool:
    return _definition(table) is not None


def _ancestors(node: exp.Expr) -> list[exp.Expr]:
    found = []
    above = node.parent
    while above is not None:
        found.append(above)
        above = above.parent
    return found


def _negated(table: exp.Table) -> bool:
    """On the right of EXCEPT or of an anti join, or in a subquery under NOT."""
    below: exp.Expr = table
    subquery = False
    for above in _ancestors(table):
        subquery = subquery or isinstance(above, exp.Query)
        if isinstance(above, exp.Except) and below is above.expression:
            return True
        if isinstance(above, exp.Join) and "ANTI" in (above.side, above.kind) and below is above.this:
            return True
        if isinstance(above, exp.Not) and subquery:
            return True
        below = above
    return False
