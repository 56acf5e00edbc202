"""The text of a query that a database runs for Spark: which tables and columns it reads, and how.

Only what the text says for certain. Where it would need the tables' schemas to tell whose a column is, the columns are
not known; the tables still are.
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
"""Direct uses, the stronger later; every other use is indirect."""


@dataclass(frozen=True, slots=True, order=True)
class Used:
    """A column of a table: how it is used, and the expression, where it is more than the column itself."""

    table: str
    column: str
    subtype: str
    logic: str | None = None


@dataclass(frozen=True)
class Query:
    """The tables that a query reads and, unless ``unclear`` says why not, where its columns come from."""

    tables: tuple[str, ...] = ()
    columns: dict[str, tuple[Used, ...]] = field(default_factory=dict)
    """By output column, in lower case."""
    whole: tuple[Used, ...] = ()
    """What decides over whole rows."""
    star: str | None = None
    """The table whose columns come along under their own names: `select *`."""
    unclear: str | None = None

    def of(self, column: str) -> tuple[Used, ...]:
        known = self.columns.get(column.lower())
        if known is None:
            return (Used(self.star, column, "IDENTITY"),) if self.star is not None else ()
        return known


class _Unclear(Exception):
    """The text alone does not say."""


def read_query(text: str, scheme: str, fold: Callable[[str], str]) -> Query:
    """``fold`` is what the database makes of a name without quotes. ValueError for a text that is not understood."""
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
    reader = _Reader(fold, _DIALECTS.get(scheme))
    try:
        if not scopes:
            raise _Unclear("it is not a query")
        return replace(reader.read(scopes[-1]), tables=tables)
    except _Unclear as reason:
        return Query(tables, unclear=str(reason))


class _Reader:
    def __init__(self, fold: Callable[[str], str], dialect: str | None) -> None:
        self._fold = fold
        self._dialect = dialect
        self._known: dict[int, Query] = {}

    def read(self, scope: Scope) -> Query:
        known = self._known.get(id(scope))
        if known is None:
            known = self._union(scope) if scope.set_operation_scopes else self._select(scope)
            self._known[id(scope)] = known
        return known

    def _union(self, scope: Scope) -> Query:
        """Columns by their place, under the names of the first."""
        sides = [self.read(side) for side in scope.set_operation_scopes]
        first, *others = sides
        if any(side.star is not None or len(side.columns) != len(first.columns) for side in sides):
            raise _Unclear("it joins queries whose columns it does not name")
        columns = dict(first.columns)
        for side in others:
            for name, used in zip(first.columns, side.columns.values(), strict=True):
                columns[name] = _unique(*columns[name], *used)
        return Query(columns=columns, whole=_unique(*(used for side in sides for used in side.whole)))

    def _select(self, scope: Scope) -> Query:
        from sqlglot import exp

        select = scope.expression
        if not isinstance(select, exp.Select) or scope.udtf_scopes:
            raise _Unclear("it is of a kind that is not understood")
        columns: dict[str, tuple[Used, ...]] = {}
        star = None
        for projection in select.selects:
            if projection.is_star:
                star = self._star(scope, projection, columns)
            elif not projection.alias_or_name:
                raise _Unclear("it has a column without a name")
            else:
                columns[projection.alias_or_name.lower()] = _unique(*self._value(projection.unalias(), scope))
        return Query(columns=columns, whole=_unique(*self._whole(select, scope)), star=star)

    def _star(self, scope: Scope, projection: exp.Expr, columns: dict[str, tuple[Used, ...]]) -> str | None:
        from sqlglot import exp

        if len(scope.selected_sources) != 1 or projection.args.get("except_") or projection.args.get("replace"):
            raise _Unclear("it selects * from more than one table")
        ((_, source),) = scope.selected_sources.values()
        if isinstance(source, exp.Table):
            return _table_name(source)
        inner = self.read(source)
        columns.update(inner.columns)
        return inner.star

    def _whole(self, select: exp.Select, scope: Scope) -> Iterator[Used]:
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
            raise _Unclear("it joins by names alone")

    def _deciding(self, part: exp.Expr, scope: Scope, kind: str, select: exp.Select) -> Iterator[Used]:
        aliases = {item.alias.lower(): item.unalias() for item in select.selects if item.alias}
        for column in self._columns_in(part, scope):
            # GROUP BY and ORDER BY may name an output column.
            named = aliases.get(column.name.lower()) if not column.table and kind in ("GROUP_BY", "SORT") else None
            for used in self._value(named, scope) if named is not None else self._source(column, scope):
                yield Used(used.table, used.column, kind)
        for inner in self._inner_queries(part, scope):
            yield from (Used(used.table, used.column, kind) for each in inner.columns.values() for used in each)
            yield from inner.whole

    def _value(self, value: exp.Expr, scope: Scope) -> Iterator[Used]:
        from sqlglot import exp

        if isinstance(value, exp.Column):
            yield from self._source(value, scope)
            return
        logic = value.sql(dialect=self._dialect)
        for column in self._columns_in(value, scope):
            for used in self._source(column, scope):
                yield Used(used.table, used.column, _then(_role(column, value), used.subtype), logic)
        for inner in self._inner_queries(value, scope):
            if inner.star is not None or inner.whole:
                raise _Unclear("it computes a column by a query of its own")
            for used in (used for each in inner.columns.values() for used in each):
                yield Used(used.table, used.column, _then("TRANSFORMATION", used.subtype), logic)

    def _inner_queries(self, part: exp.Expr, scope: Scope) -> Iterator[Query]:
        for inner in scope.subquery_scopes:
            if inner.expression.find_ancestor(type(part)) is part or inner.expression.parent is part:
                if inner.is_correlated_subquery:
                    raise _Unclear("a query within it may depend on its rows")
                yield self.read(inner)

    @staticmethod
    def _columns_in(part: exp.Expr, scope: Scope) -> Iterator[exp.Column]:
        """Those of this query, not of one within it."""
        from sqlglot import exp

        return (column for column in part.find_all(exp.Column) if column.parent_select is scope.expression)

    def _source(self, column: exp.Column, scope: Scope) -> tuple[Used, ...]:
        from sqlglot import exp

        sources = {name: source for name, (_, source) in scope.selected_sources.items()}
        if column.table:
            source = sources.get(column.table)
        elif len(sources) == 1:
            source = next(iter(sources.values()))
        else:
            source = None
        if source is None:
            raise _Unclear(f"it does not say which table {column.name} is of")
        if isinstance(source, exp.Table):
            name = column.name if column.this.args.get("quoted") else self._fold(column.name)
            return (Used(_table_name(source), name, "IDENTITY"),)
        used = self.read(source).of(column.name)
        if not used and column.name.lower() not in self.read(source).columns:
            raise _Unclear(f"it does not say where {column.name} comes from")
        return used


def _role(column: exp.Column, value: exp.Expr) -> str:
    """What a column is to the value it stands in."""
    from sqlglot import exp

    role, node = "TRANSFORMATION", column.parent
    below: exp.Expr = column
    while node is not None:
        if isinstance(node, exp.If) and node.this is below:
            return "CONDITIONAL"
        if isinstance(node, exp.Window) and node.this is not below:
            return "WINDOW"
        if isinstance(node, exp.AggFunc):
            role = "AGGREGATION"
        if node is value:
            break
        below, node = node, node.parent
    return role


def _then(outer: str, inner: str) -> str:
    if outer not in _RANK or inner not in _RANK:
        return outer if outer not in _RANK else inner
    return max(outer, inner, key=_RANK.__getitem__)


def _table_name(table: exp.Table) -> str:
    """As it stands there, quotes and all."""
    return ".".join(f'"{part.name}"' if part.args.get("quoted") else part.name for part in table.parts)


def _unique(*used: Used) -> tuple[Used, ...]:
    return tuple(dict.fromkeys(used))


def _without_alias(text: str) -> str:
    """Spark hands on `(select …) alias` as if it were a table."""
    stripped = text.strip()
    if stripped.startswith("("):
        end = stripped.rfind(")")
        return stripped[1:end]
    return stripped
