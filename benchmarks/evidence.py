"""What evidence costs on TPC-H: each query as a captured job that writes Parquet, without evidence, with what there is
by default, and with an exact ledger.

    ./dev bench evidence [--scale 1] [--rounds 5] [--queries q01,q05] [--no-ledger]

The three take turns as in benchmarks/overhead.py. *Default* is the job's own time with evidence over that without;
*settled* adds what the capture still does after the job's call has returned, in both. *Ledger* is the job and all that
comes after it, over the job alone: the ledger runs after the write.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import headwater as hw
from benchmarks.harness import console, show
from benchmarks.overhead import Contestant, Turns, geometric_mean, session, take_turns
from benchmarks.tpch import write_job
from benchmarks.tpch_data import open_tables, queries, tables
from headwater import capturing
from headwater.formats.openlineage.facet_names import LEDGER_FACET, MANIFEST_FACET

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PLAIN, _DEFAULT, _LEDGER = "captured", "evidence", "ledger"


class Captured:
    """A capture of its own kind, for one turn."""

    def __init__(self, spark: SparkSession, folder: Path, kind: str) -> None:
        self._spark = spark
        self._folder = folder
        self._kind = kind
        self._run = ExitStack()
        self.address = f"sqlite:///{folder}/{kind}.db"

    def contestant(self) -> Contestant:
        return Contestant(self._begin, self._settle, self._end)

    def _begin(self) -> None:
        with ExitStack() as without:
            if self._kind == _PLAIN:
                without.enter_context(patch.object(capturing, "_make_evidence_provider", None))
            hw.enable(self._spark, store=self.address, spool=self._folder / f"spool-{self._kind}", namespace="bench")
        self._run.enter_context(hw.run("bench", ledger=self._kind == _LEDGER))

    def _settle(self) -> None:
        self._run.close()
        hw.flush(600)

    def _end(self) -> None:
        hw.disable(self._spark)


def refuse_unless_there(captured: Mapping[str, Captured], turns: int) -> list[str]:
    """Evidence that was silently missing would look free. Answers with how exact the ledgers were."""
    expected: dict[str, set[str]] = {_PLAIN: set(), _DEFAULT: {MANIFEST_FACET}, _LEDGER: {MANIFEST_FACET, LEDGER_FACET}}
    exact: list[str] = []
    for kind, each in captured.items():
        with hw.connect(each.address) as lin:
            runs = [lin.run(run.run_id) for run in lin.runs(job="bench", state="COMPLETE", limit=1_000_000)]
        facets = [run.run_facets for run in runs]
        right = [each for each in facets if each.keys() & {MANIFEST_FACET, LEDGER_FACET} == expected[kind]]
        if len(right) != turns:
            raise SystemExit(
                f"No figures: {len(right)} of {turns} runs of {kind!r} are in the store as they should be."
            )
        if kind == _LEDGER:
            exact += [str(each[LEDGER_FACET].get("exact")) for each in facets]
    return exact


def main() -> None:
    options = arguments()
    texts = queries(options.scale)
    chosen = {name: texts[name] for name in options.queries or texts}
    kinds = (_PLAIN, _DEFAULT) if options.no_ledger else (_PLAIN, _DEFAULT, _LEDGER)
    with tempfile.TemporaryDirectory(prefix="headwater-evidence-") as scratch, session("evidence") as spark:
        folder = Path(scratch)
        open_tables(spark, tables(options.scale))
        captured = {kind: Captured(spark, folder, kind) for kind in kinds}
        contestants = {kind: each.contestant() for kind, each in captured.items()}
        jobs = {name: write_job(spark, text, folder / name) for name, text in chosen.items()}
        tell: Callable[[str], object] = console.print
        results = take_turns(spark, jobs, contestants, options.rounds, tell)
        exact = refuse_unless_there(captured, len(jobs) * (options.rounds + 1))
        title = (
            f"Evidence on TPC-H at scale {options.scale:g}, Spark {spark.version}, median of {options.rounds} rounds"
        )
    rows = [[name, f"{turns[_PLAIN].seconds * 1000:,.0f}", *ratios(turns)] for name, turns in results.items()]
    columns = list(zip(*(ratios(turns) for turns in results.values()), strict=True))
    rows.append(["geometric mean", "", *map(geometric_mean, columns)])
    rows.append(["worst", "", *map(max, columns)])
    shown = [[f"{cell:.3f}" if isinstance(cell, float) else cell for cell in row] for row in rows]
    show(title, ("query", "captured ms", "default", "settled", "ledger")[: len(rows[0])], shown)
    if exact:
        console.print(f"ledgers that are exact: {exact.count('True')} of {len(exact)}")


def ratios(turns: Mapping[str, Turns]) -> list[float]:
    plain, default = turns[_PLAIN], turns[_DEFAULT]
    found = [default.seconds / plain.seconds, default.seconds_settled / plain.seconds_settled]
    return found + ([turns[_LEDGER].seconds_settled / plain.seconds] if _LEDGER in turns else [])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench evidence")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--queries", type=lambda names: names.split(","), default=[])
    parser.add_argument("--no-ledger", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
