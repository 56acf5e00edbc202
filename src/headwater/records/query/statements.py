"""What may be asked of the ledger in SQL: one query, over its tables alone. It changes nothing and reads no other file.

archive     a row for every leaf, with its lineage, as it is archived
hot         the records in the hot table
records     every record once, archived or hot
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.errors import QueryError, shorten

if TYPE_CHECKING:
    from sqlglot import exp

TABLES = ("archive", "hot", "records")
_SERIES = ("range", "generate_series", "explode", "posexplode", "inline", "unnest", "generateseries")
"""Functions that stand where a table does, and make their rows of what they are given."""
_REACHING_OUT = ("reflect", "java_method", "try_reflect", "getenv", "query", "query_table")


@dataclass(frozen=True, slots=True)
class LedgerStatement:
    """``text`` is what the engine is to run; ``tables`` are those of ours that it reads; ``conflicts``: whether it may
    ask which records are in conflict, which is not free to find out."""

    text: str
    tables: frozenset[str]
    conflicts: bool


def parse_statement(text: str, engine: str, dialect: str | None) -> LedgerStatement:
    """Refused where it is more than a query of ours. ``engine``: duckdb or spark; ``dialect``: of the text."""
    tree = _parsed(text, dialect or engine)
    _only_reads(tree)
    tables, renamed = _tables(tree)
    from sqlglot import exp

    # An engine gets its own words as they were written, but for those that it does not know.
    unknown = engine == "spark" and tree.find(exp.Unnest) is not None
    if dialect is not None or renamed or unknown:
        text = tree.sql(dialect=engine)
    return LedgerStatement(text.strip().rstrip(";"), frozenset(tables), _asks_for_conflicts(tree))


def _parsed(text: str, dialect: str) -> exp.Expr:
    import sqlglot

    # It would say on stderr what is refused below in any case.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    try:
        trees = [tree for tree in sqlglot.parse(text, read=dialect) if tree is not None]
    except sqlglot.errors.SqlglotError as error:
        raise QueryError(f"The query cannot be read: {_first_line(error)}") from None
    except ValueError:
        raise QueryError(
            f"'{shorten(dialect)}' is not a dialect of SQL that is known. Try athena, trino or duckdb."
        ) from None
    if len(trees) != 1:
        raise QueryError(f"One query can be asked at a time, not {len(trees)}.")
    return trees[0]


def _only_reads(tree: exp.Expr) -> None:
    from sqlglot import exp

    writing = (exp.Into, exp.DML, exp.DDL, exp.Command, exp.QueryTransform, exp.Copy, exp.Lock)
    # A query may be read as a kind of definition, because it can stand in one.
    wrong = [type(each).__name__ for each in tree.find_all(*writing) if not isinstance(each, exp.Query)]
    if not isinstance(tree, exp.Query) or wrong:
        raise QueryError("Only queries can be asked: a SELECT that writes nothing and runs nothing.")
    for call in tree.find_all(exp.Anonymous):
        if call.name.lower() in _REACHING_OUT:
            raise QueryError(f"{call.name}() reaches beyond the ledger, and is refused.")


def _tables(tree: exp.Expr) -> tuple[set[str], bool]:
    """Which of our tables it reads, and whether their names had to be made plain."""
    from sqlglot import exp

    defined = {each.alias_or_name.lower() for each in tree.find_all(exp.CTE)}
    found: set[str] = set()
    renamed = False
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Func):
            name = table.this.name if isinstance(table.this, exp.Anonymous) else table.this.key
            if name.lower() not in _SERIES:
                raise QueryError(f"{name}() is no table of the ledger. Tables: {', '.join(TABLES)}.")
            continue
        name = table.name.lower()
        if not table.db and name in defined:
            continue
        if name not in TABLES:
            raise QueryError(f"'{shorten(table.sql())}' is no table of the ledger. Tables: {', '.join(TABLES)}.")
        if table.db or table.name != name:
            table.replace(_plain(table, name))
            renamed = True
        found.add(name)
    return found, renamed


def _asks_for_conflicts(tree: exp.Expr) -> bool:
    """By name, or by asking for all columns; but `count(*)` asks for none."""
    from sqlglot import exp

    named = any(name.name.lower() == "conflict" for name in tree.find_all(exp.Identifier))
    every = any(not isinstance(star.parent, exp.Count) for star in tree.find_all(exp.Star))
    return named or every or tree.find(exp.Columns) is not None


def _plain(table: exp.Table, name: str) -> exp.Table:
    """The same without the database that an engine elsewhere has it in."""
    from sqlglot import exp

    plain = table.copy()
    plain.set("this", exp.to_identifier(name))
    plain.set("db", None)
    plain.set("catalog", None)
    return plain


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
