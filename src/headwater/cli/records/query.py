"""`headwater records query`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.failures import CliError
from headwater.cli.options import DEFAULT_STORE, JsonOption, LimitOption, StoreOption
from headwater.cli.output import open_store, print_json, print_text
from headwater.cli.records.options import ArchiveOption
from headwater.cli.spark import DEFAULT_MASTER, MasterOption, spark_session

_ENGINES = ("duckdb", "spark")


def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="A query over the tables `archive`, `hot` and `records`.")],
    engine: Annotated[
        str, typer.Option("--engine", metavar="NAME", help="duckdb (on this machine) or spark (over a lake).")
    ] = "duckdb",
    dialect: Annotated[
        str | None,
        typer.Option(
            "--dialect", metavar="NAME", help="SQL dialect of the query, like athena.", show_default="the engine's"
        ),
    ] = None,
    limit: LimitOption = 100,
    archive: ArchiveOption = None,
    master: MasterOption = DEFAULT_MASTER,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Query the ledger in SQL: the archive and the hot records together. It only reads."""
    from headwater.cli.render.records.querying import plain_rows, query_table
    from headwater.records.query.sql import query as query_by_duckdb
    from headwater.records.query.sql import query_by_spark

    if engine not in _ENGINES:
        raise CliError(f"'{engine}' is not an engine. Engines: {', '.join(_ENGINES)}.")
    with open_store(store) as lineage:
        if engine == "duckdb":
            answer = query_by_duckdb(lineage, sql, archive=archive, dialect=dialect, limit=limit)
        else:
            with spark_session(master) as spark:
                answer = query_by_spark(lineage, spark, sql, archive=archive, dialect=dialect, limit=limit)
    if as_json:
        print_json(plain_rows(answer))
    else:
        print_text(query_table(answer, limit))
