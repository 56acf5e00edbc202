"""`./dev bench`: the benchmarks, each in the environment that it needs."""

from __future__ import annotations

from tools.console import DevError, step
from tools.environment import set_up_to_run
from tools.paths import BENCH_LOCK, ROOT
from tools.processes import run
from tools.venvs import MAIN

# What a benchmark needs beside the main lock.
BENCH_NEEDS = dict.fromkeys(("tpch", "agent", "rows_tpcds", "evidence", "rows_trace", "rows_full"), BENCH_LOCK)


def bench_command(args: list[str]) -> int:
    known = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if "__main__" in path.read_text())
    if not args or args[0] not in known:
        asked = f"There is no benchmark {args[0]!r}." if args else "Which benchmark?"
        raise DevError(f"{asked} Benchmarks: {', '.join(known) or 'none yet'}.")
    name, *rest = args
    env = set_up_to_run(MAIN, (BENCH_NEEDS[name],) if name in BENCH_NEEDS else ())
    with step(f"benchmark {name}"):  # as a module, from the top folder: it may import tests.support
        return run([str(MAIN.python), "-m", f"benchmarks.{name}", *rest], env)
