"""The text of a query that a database runs for Spark: which tables and columns it reads, and how.

Only what the text states for certain. If the tables' schemas would be needed to know whose a column is, the columns are
unknown; the tables are still known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.optimizer.scope import Scope

_DIALECTS = {"postgres": "postgres", "mysql": "mysql", "mssql": "tsql", "oracle": "oracle", "sqlite": "sqlite"}
_RANK = {"IDENTITY": 0, "TRANSFORMATION": 1, "AGGREGATION": 2}
"""Direct uses, the stronger one later; every other use is indirect."""


@dataclass(frozen=True, slots=True, order=True)
class ColumnUse:
    """A column of a table: how it is used, and the expression, if it is more than the column itself."""

    table: str
    column: str
    subtype: str
    logic: str | None = None


@dataclass(frozen=True)
class DatabaseQuery:
    """The tables that a query reads and, unless ``unclear`` states why not, where its columns come from."""

    tables: tuple[str, ...] = ()
    columns: dict[str, tuple[ColumnUse, ...]] = field(default_factory=dict)
    """By output column, in lower case."""
    whole: tuple[ColumnUse, ...] = ()
    """What decides over whole rows."""
    star: str | None = None
    """The table whose columns are passed on under their own names: `select *`."""
    unclear: str | None = None

    def of(self, column: str) -> tuple[ColumnUse, ...]:
        uses = self.columns.get(column.lower())
        if uses is None:
            return (ColumnUse(self.star, column, "IDENTITY"),) if self.star is not None else ()
        return uses


class _UnclearQuery(Exception):
    """The text alone does not tell."""


def read_query(text: str, scheme: str, fold: Callable[[str], str]) -> DatabaseQuery:
    """``fold`` is how the database reads an unquoted name. ValueError for a text that cannot be parsed."""
    import sqlglot
    from sqlglot import errors, exp
    from sqlglot.optimizer.scope import traverse_scope

    try:
        tree = sqlglot.parse_one(_without_alias(text), dialect=_DIALECTS.get(scheme))
        scopes = list(traverse_scope(tree))
    except (errors.SqlglotError, RecursionError) as error:
        raise ValueError(f"the query could not be read: {str(error).splitlines()[0]}") from error
    sources = (source for scope in scopes for source in scope.sources.values())
    tables = tuple(sorted({_table_name(source) for source in sources if isinstance(source, exp.Table)}))
    reader = _QueryReader(fold, _DIALECTS.get(scheme))
    try:
        if not scopes:
            raise _UnclearQuery("it is not a query")
        return replace(reader.read(scopes[-1]), tables=tables)
    except _UnclearQuery as reason:
        return DatabaseQuery(tables, unclear=str(reason))


class _QueryReader:
    def __init__(self, fold: Callable[[str], str], dialect: str | None) -> None:
        self._fold = fold
        self._dialect = dialect
        self._known: dict[int, DatabaseQuery] = {}

    def read(self, scope: Scope) -> DatabaseQuery:
        query = self._known.get(id(scope))
        if query is None:
            query = self._union(scope) if scope.set_operation_scopes else self._select(scope)
            self._known[id(scope)] = query
        return query

    def _union(self, scope: Scope) -> DatabaseQuery:
        """Columns by position, under the names of the first query."""
        sides = [self.read(side) for side in scope.set_operation_scopes]
        first, *others = sides
        if any(side.star is not None or len(side.columns) != len(first.columns) for side in sides):
            raise _UnclearQuery("it joins queries whose columns it does not name")
        columns = dict(first.columns)
        for side in others:
            for name, used in zip(first.columns, side.columns.values(), strict=True):
                columns[name] = _unique(*columns[name], *used)
        return DatabaseQuery(columns=columns, whole=_unique(*(used for side in sides for used in side.whole)))

    def _select(self, scope: Scope) -> DatabaseQuery:
        from sqlglot import exp

        select = scope.expression
        if not isinstance(select, exp.Select) or scope.udtf_scopes:
            raise _UnclearQuery("it is of a kind that is not understood")
        columns: dict[str, tuple[ColumnUse, ...]] = {}
        star = None
        for projection in select.selects:
            if projection.is_star:
                star = self._star(scope, projection, columns)
            elif not projection.alias_or_name:
                raise _UnclearQuery("it has a column without a name")
            else:
                columns[projection.alias_or_name.lower()] = _unique(*self._value(projection.unalias(), scope))
        return DatabaseQuery(columns=columns, whole=_unique(*self._whole(select, scope)), star=star)

    def _star(self, scope: Scope, projection: exp.Expr, columns: dict[str, tuple[ColumnUse, ...]]) -> str | None:
        from sqlglot import exp

        if len(scope.selected_sources) != 1 or projection.args.get("except_") or projection.args.get("replace"):
            raise _UnclearQuery("it selects * from more than one table")
        ((_, source),) = scope.selected_sources.values()
        if isinstance(source, exp.Table):
            return _table_name(source)
        inner = self.read(source)
        columns.update(inner.columns)
        return inner.star

    def _whole(self, select: exp.Select, scope: Scope) -> Iterator[ColumnUse]:
        from sqlglot import exp

        for _, source in scope.selected_sources.values():
            if not isinstance(source, exp.Table):
                yield from self.read(source).whole
        parts = [(select.args.get(name), kind) for name, kind in (("where", "FILTER"), ("having", "FILTER"))]
        parts += [(join.args.get("on"), "JOIN") for join in select.args.get("joins") or ()]
        parts += [(select.args.get("group"), "GROUP_BY"), (select.args.get("order"), "SORT")]
        for part, kind in parts:
            if part is not None:
                yield from self._deciding(part, scope, kind, select)
        if any(join.args.get("using") or join.method == "NATURAL" for join in select.args.get("joins") or ()):
            raise _UnclearQuery("it joins by names alone")

    def _deciding(self, part: exp.Expr, scope: Scope, kind: str, select: exp.Select) -> Iterator[ColumnUse]:
        aliases = {item.alias.lower(): item.unalias() for item in select.selects if item.alias}
        for column in self._columns_in(part, scope):
            # GROUP BY and ORDER BY may name an output column.
            named = aliases.get(column.name.lower()) if not column.table and kind in ("GROUP_BY", "SORT") else None
            for used in self._value(named, scope) if named is not None else self._source(column, scope):
                yield ColumnUse(used.table, used.column, kind)
        for inner in self._inner_queries(part, scope):
            yield from (ColumnUse(used.table, used.column, kind) for uses in inner.columns.values() for used in uses)
            yield from inner.whole

    def _value(self, value: exp.Expr, scope: Scope) -> Iterator[ColumnUse]:
        from sqlglot import exp

        if isinstance(value, exp.Column):
            yield from self._source(value, scope)
            return
        logic = value.sql(dialect=self._dialect)
        for column in self._columns_in(value, scope):
            for used in self._source(column, scope):
                yield ColumnUse(used.table, used.column, _combined_subtype(_role(column, value), used.subtype), logic)
        for inner in self._inner_queries(value, scope):
            if inner.star is not None or inner.whole:
                raise _UnclearQuery("it computes a column by a query of its own")
            for used in (used for uses in inner.columns.values() for used in uses):
                yield ColumnUse(used.table, used.column, _combined_subtype("TRANSFORMATION", used.subtype), logic)

    def _inner_queries(self, part: exp.Expr, scope: Scope) -> Iterator[DatabaseQuery]:
        for inner in scope.subquery_scopes:
            if inner.expression.find_ancestor(type(part)) is part or inner.expression.parent is part:
                if inner.is_correlated_subquery:
                    raise _UnclearQuery("a query within it may depend on its rows")
                yield self.read(inner)

    @staticmethod
    def _columns_in(part: exp.Expr, scope: Scope) -> Iterator[exp.Column]:
        """Those of this query, not of one within it."""
        from sqlglot import exp

        return (column for column in part.find_all(exp.Column) if column.parent_select is scope.expression)

    def _source(self, column: exp.Column, scope: Scope) -> tuple[ColumnUse, ...]:
        from sqlglot import exp

        sources = {name: source for name, (_, source) in scope.selected_sources.items()}
        if column.table:
            source = sources.get(column.table)
        elif len(sources) == 1:
            source = next(iter(sources.values()))
        else:
            source = None
        if source is None:
            raise _UnclearQuery(f"it does not say which table {column.name} is of")
        if isinstance(source, exp.Table):
            name = column.name if column.this.args.get("quoted") else self._fold(column.name)
            return (ColumnUse(_table_name(source), name, "IDENTITY"),)
        used = self.read(source).of(column.name)
        if not used and column.name.lower() not in self.read(source).columns:
            raise _UnclearQuery(f"it does not say where {column.name} comes from")
        return used


def _role(column: exp.Column, value: exp.Expr) -> str:
    """How a column contributes to the value it is part of."""
    from sqlglot import exp

    role, node = "TRANSFORMATION", column.parent
    child: exp.Expr = column
    while node is not None:
        if isinstance(node, exp.If) and node.this is child:
            return "CONDITIONAL"
        if isinstance(node, exp.Window) and node.this is not child:
            return "WINDOW"
        if isinstance(node, exp.AggFunc):
            role = "AGGREGATION"
        if node is value:
            break
        child, node = node, node.parent
    return role


def _combined_subtype(outer: str, inner: str) -> str:
    if outer not in _RANK or inner not in _RANK:
        return outer if outer not in _RANK else inner
    return max(outer, inner, key=_RANK.__getitem__)


def _table_name(table: exp.Table) -> str:
    """As it is written, with its quotes."""
    return ".".join(f'"{part.name}"' if part.args.get("quoted") else part.name for part in table.parts)


def _unique(*used: ColumnUse) -> tuple[ColumnUse, ...]:
    return tuple(dict.fromkeys(used))


def _without_alias(text: str) -> str:
    """Spark passes `(select …) alias` as if it were a table."""
    stripped = text.strip()
    if stripped.startswith("("):
        end = stripped.rfind(")")
        return stripped[1:end]
    return stripped
