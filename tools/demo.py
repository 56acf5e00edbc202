"""`./dev demo`: the demonstration, on the command line, on Spark and on the page."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import webbrowser
from pathlib import Path

from tools.console import DevError, say, step
from tools.environment import set_up_to_run
from tools.paths import PAGE_BUILT, ROOT
from tools.processes import Environment, run
from tools.venvs import MAIN

STEPS_OF_RECORDS = """SELECT record_id, root_id, unnested_lineage.action_taken,
  from_unixtime(unnested_lineage.recordedAt) AS recordedAt, unnested_lineage.storage_location
FROM archive, UNNEST(lineage) AS t(unnested_lineage)
WHERE record_id = 'emissions-1'"""


def demo_command(args: list[str]) -> int:
    env = set_up_to_run()
    with step("headwater demo"):
        failed = run([str(MAIN.bin / "headwater"), "demo", *args], env)
    return failed or (0 if args else demo_on_spark(env))


def demo_on_spark(env: Environment) -> int:
    """The main job: PySpark programs, captured as they run, and the questions that their analyst would ask."""
    if "JAVA_HOME" not in env:
        say("Not run, for want of Java: examples/carbon.py")
        return 0
    kept = ROOT / ".headwater"
    headwater, store = str(MAIN.bin / "headwater"), f"sqlite:///{kept / 'carbon.db'}"
    lake, rows, archive = kept / "carbon", kept / "rows", kept / "demo-records"
    for file in kept.glob("carbon.db*"):  # of an earlier demo, perhaps of an earlier version
        file.unlink()
    for folder in (lake, rows, archive):
        shutil.rmtree(folder, ignore_errors=True)
    with step("python examples/carbon.py"):
        failed = run([str(MAIN.python), str(ROOT / "examples" / "carbon.py"), str(lake), store, str(rows)], env)
    if failed:
        return failed
    report, emissions = str(lake / "daily_report"), str(lake / "emissions")
    for arguments in (
        ["upstream", report, "--column", "kg"],
        ["impact", str(lake / "raw" / "activity"), "--column", "amount"],
        ["quality", str(lake / "raw" / "activity")],
        ["provenance", "show", emissions],
        ["trace", report, "--where", "day = '2026-11-15' and country = 'US'", "--rows", "3"],
        ["why-not", emissions, "--source", "raw/activity", "--where", "activity_id = 134"],
        ["records", "send", "examples/carbon_records.jsonl"],
        ["records", "work", "--until-empty", "--archive", str(archive)],
        ["records", "trace", "activity-2026-11-15.csv"],
        ["records", "compact", "--archive", str(archive)],
        ["records", "query", STEPS_OF_RECORDS],
        ["verify"],
    ):
        with step(f"headwater {' '.join(arguments)}"):
            failed = run([headwater, *arguments, "--store", store], env)
        if failed:
            return failed
    return show_page(headwater, store, rows, env)


def show_page(headwater: str, store: str, rows: Path, env: Environment) -> int:
    """Serve what the demo has made, and open it: for a person until Ctrl-C, else only to see that it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}/"
    command = [headwater, "serve", "--store", store, "--rows-location", str(rows), "--port", str(port)]
    with subprocess.Popen([*command, "--log-level", "warning"], cwd=ROOT, env=env) as server:
        try:
            page = answer_at(address, server)
            questions = answer_at(f"{address}api/v1/overview", server)
            if not page or not questions:
                raise DevError(f"headwater serve did not answer at {address}")
            if PAGE_BUILT.exists() and 'id="page"' not in page:
                raise DevError(f"headwater serve answers at {address}, but not with the page")
            if not sys.stdin.isatty() or not sys.stdout.isatty():
                say(f"The page answered at {address}. In a terminal it stays open.")
                return 0
            say(f"The lineage of all this: {address}  (Ctrl-C ends it)")
            webbrowser.open(address)
            server.wait()
        except KeyboardInterrupt:
            say("")
        finally:
            server.terminate()
    return 0


def answer_at(address: str, server: subprocess.Popen[bytes]) -> str | None:
    """What is served there, once it is; None if the server ended, or took too long."""
    until = time.monotonic() + 60
    while server.poll() is None and time.monotonic() < until:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return str(answer.read(), "utf-8")
        except OSError:
            time.sleep(0.2)
    return None
