"""Checks a query in SQL over the ledger: one statement, over its tables alone, that only reads.

archive     a row for every leaf, with its lineage, as archived
hot         the records in the hot table
records     every record once, archived or hot
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.errors import QueryError, first_line, shorten

if TYPE_CHECKING:
    from sqlglot import exp

TABLES = ("archive", "hot", "records")
_TABLE_FUNCTIONS = ("range", "generate_series", "explode", "posexplode", "inline", "unnest", "generateseries")
"""Table functions that compute their rows from their arguments."""
_FORBIDDEN_FUNCTIONS = ("reflect", "java_method", "try_reflect", "getenv", "query", "query_table")


@dataclass(frozen=True, slots=True)
class LedgerStatement:
    """``text`` is for the engine; ``tables`` are the ledger's tables that it reads; ``conflicts`` says whether it may
    read which records are in conflict, which is costly to compute."""

    text: str
    tables: frozenset[str]
    conflicts: bool


def parse_statement(text: str, engine: str, dialect: str | None) -> LedgerStatement:
    """QueryError unless the text is one query over the ledger. ``engine``: duckdb or spark; ``dialect``: the text's."""
    tree = _parse(text, dialect or engine)
    _refuse_writes(tree)
    tables, renamed = _tables(tree)
    from sqlglot import exp

    # In its own dialect an engine gets the text as written, except for constructs that it does not know.
    unknown = engine == "spark" and tree.find(exp.Unnest) is not None
    if dialect is not None or renamed or unknown:
        text = tree.sql(dialect=engine)
    return LedgerStatement(text.strip().rstrip(";"), frozenset(tables), _reads_conflicts(tree))


def _parse(text: str, dialect: str) -> exp.Expr:
    import sqlglot

    # sqlglot would print on stderr what is refused below anyway.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    try:
        trees = [tree for tree in sqlglot.parse(text, read=dialect) if tree is not None]
    except sqlglot.errors.SqlglotError as error:
        raise QueryError(f"The query cannot be read: {first_line(error)}") from None
    except ValueError:
        raise QueryError(f"'{shorten(dialect)}' is not a known dialect of SQL. Try athena, trino or duckdb.") from None
    if len(trees) != 1:
        raise QueryError(f"The text has {len(trees)} statements. Write one query.")
    return trees[0]


def _refuse_writes(tree: exp.Expr) -> None:
    from sqlglot import exp

    writing = (exp.Into, exp.DML, exp.DDL, exp.Command, exp.QueryTransform, exp.Copy, exp.Lock)
    # sqlglot derives queries from DDL, because a definition can contain one.
    writes = [type(node).__name__ for node in tree.find_all(*writing) if not isinstance(node, exp.Query)]
    if not isinstance(tree, exp.Query) or writes:
        raise QueryError("Only a SELECT that writes nothing and runs nothing is allowed.")
    for call in tree.find_all(exp.Anonymous):
        if call.name.lower() in _FORBIDDEN_FUNCTIONS:
            raise QueryError(f"{call.name}() reads outside the ledger, and is refused.")


def _tables(tree: exp.Expr) -> tuple[set[str], bool]:
    """The ledger's tables that it reads, and whether their names had to be stripped of a database."""
    from sqlglot import exp

    cte_names = {cte.alias_or_name.lower() for cte in tree.find_all(exp.CTE)}
    tables_read: set[str] = set()
    renamed = False
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Func):
            name = table.this.name if isinstance(table.this, exp.Anonymous) else table.this.key
            if name.lower() not in _TABLE_FUNCTIONS:
                raise QueryError(f"{name}() is not a table of the ledger. Tables: {', '.join(TABLES)}.")
            continue
        name = table.name.lower()
        if not table.db and name in cte_names:
            continue
        if name not in TABLES:
            raise QueryError(f"'{shorten(table.sql())}' is not a table of the ledger. Tables: {', '.join(TABLES)}.")
        if table.db or table.name != name:
            table.replace(_without_database(table, name))
            renamed = True
        tables_read.add(name)
    return tables_read, renamed


def _reads_conflicts(tree: exp.Expr) -> bool:
    """Whether it names the column `conflict` or all columns; `count(*)` reads none."""
    from sqlglot import exp

    names_it = any(name.name.lower() == "conflict" for name in tree.find_all(exp.Identifier))
    selects_all = any(not isinstance(star.parent, exp.Count) for star in tree.find_all(exp.Star))
    return names_it or selects_all or tree.find(exp.Columns) is not None


def _without_database(table: exp.Table, name: str) -> exp.Table:
    """The table without the database that it has in another engine."""
    from sqlglot import exp

    copy = table.copy()
    copy.set("this", exp.to_identifier(name))
    copy.set("db", None)
    copy.set("catalog", None)
    return copy
