"""What pages assume (stores, files, jobs), steps between their commands, and checks of the results."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from uuid import uuid4

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

import headwater as hw
from headwater.examples import orders_events
from headwater.model.runs import RunState
from tests.docs.reader import ROOT, Reader
from tests.docs.shell import CommandResult
from tests.server.test_dbt import FILES as DBT_PROJECT
from tests.server.test_dbt import PROGRAM as DBT
from tests.support.console import blocks
from tests.support.daily_revenue import DailyRevenue
from tests.support.dead_letters import SHOP
from tests.support.postgres import INSTALLATION, SUPERUSER, PostgresServer, find_package

Step = Callable[[Reader], None]

DEFAULT_STORE = ".headwater/lineage.db"


def no_step(_: Reader) -> None:
    pass


def demo_store(reader: Reader, file: str = DEFAULT_STORE) -> None:
    """A store with the demo's events; in the default location, unless a file is named."""
    with hw.connect(f"sqlite:///{reader.folder / file}") as lineage:
        lineage.ingest_many(orders_events())


# -- evidence -------------------------------------------------------------------------------------


def signing_key(reader: Reader) -> None:
    demo_store(reader)
    reader.values["vkey"] = lambda: verifier_key(reader)


def verifier_key(reader: Reader) -> str:
    return str(json.loads(reader.run("headwater keys show --json"))["log"][-1]["key"])


def split_checkpoint(reader: Reader) -> None:
    """Splits the newest checkpoint into text, signature and key, as docs/assurance.md says."""
    *text, last = max((reader.folder / "elsewhere").iterdir()).read_text().splitlines()
    assert text.pop() == ""
    (reader.folder / "text").write_text("".join(f"{line}\n" for line in text))
    (reader.folder / "signature").write_bytes(base64.b64decode(last.split()[-1])[4:])
    (key_file,) = reader.shell.home.rglob("signing.pem")
    public = load_pem_private_key(key_file.read_bytes(), None).public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (reader.folder / "public.pem").write_bytes(pem)


def move_to_another_machine(reader: Reader) -> None:
    """Continues in a folder that has only the evidence, the key and the anchor."""
    reader.values["vkey"] = verifier_key(reader)
    theirs = reader.folder.with_name("theirs")
    theirs.mkdir()
    shutil.copy(reader.folder / "evidence.json", theirs)
    shutil.copytree(reader.folder / "elsewhere", theirs / "checkpoints")
    reader.shell.folder = theirs


# -- databases ------------------------------------------------------------------------------------


def database_server(reader: Reader, server: PostgresServer) -> None:
    """A PostgreSQL server as `createdb` expects it, and a store in a file to move there."""
    demo_store(reader)
    reader.run(f"export PGHOST={server.folder / 'socket'} PGUSER={SUPERUSER}")
    createdb = find_package() / INSTALLATION / "bin" / "createdb"
    reader.shell.add_program("createdb", f'exec {createdb} "$@"')
    reader.values["postgres"] = server.plain_url("lineage")


def check_restored_store(reader: Reader) -> None:
    with hw.connect(str(reader.values["postgres"])) as lineage:
        assert len(lineage.upstream("shop.daily_revenue").nodes) == 6


# -- a server ------------------------------------------------------------------------------------


def check_http_answers(reader: Reader) -> None:
    """Checks the responses, because `curl` accepts any."""
    for command, answer in reader.results.items():
        if command.startswith("curl"):
            names = [node["endpoint"]["name"] for node in json.loads(answer.out)["nodes"]]
            assert "silver/orders_enriched" in names


# -- jobs -----------------------------------------------------------------------------------------

JOB = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.appName("job").getOrCreate()
spark.range(3).write.mode("overwrite").parquet("numbers")
spark.stop()
"""


def write_job(reader: Reader) -> None:
    import pyspark

    (reader.folder / "job.py").write_text(JOB)
    reader.shell.add_program("spark-submit", f'exec {pyspark.__path__[0]}/bin/spark-submit "$@"')


def check_captured_twice(reader: Reader) -> None:
    with hw.connect(reader.with_replacements("sqlite:////srv/lineage/lineage.db")) as lineage:
        runs = lineage.runs()
    assert [str(run.job) for run in runs if run.job.name == "job"] == ["prod/job"] * 2
    assert {run.state for run in runs} == {RunState.COMPLETE}


# -- producers of events ---------------------------------------------------------------------------

AIRFLOW = """
import datetime, os, uuid
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
now = datetime.datetime.now(datetime.timezone.utc).isoformat()
run, job = Run(str(uuid.uuid4())), Job(os.environ["OPENLINEAGE_NAMESPACE"], "shop.daily")
who = "https://airflow.apache.org"
OpenLineageClient().emit(RunEvent(eventType=RunState.COMPLETE, eventTime=now, run=run, job=job, producer=who))
"""


def event_producers(reader: Reader) -> None:
    write_job(reader)
    for name, text in DBT_PROJECT.items():
        file = reader.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    if DBT.exists():
        reader.shell.add_program("dbt-ol", f'PATH={DBT.parent}:$PATH exec {DBT} "$@"')
    (reader.folder / "events.jsonl").write_bytes(b"\n".join(orders_events()))
    reader.values["secret"] = lambda: reader.results["headwater access add airflow --scope write"].out.split()[0]


def run_airflow_client(reader: Reader) -> None:
    """Sends an event with the client of Airflow's provider and the page's variables; then sets the id of a task."""
    (reader.folder / "airflow.py").write_text(AIRFLOW)
    reader.run("python airflow.py")
    reader.values["task"] = str(uuid4())
    reader.run(f"export RUN_ID={reader.values['task']}")


def check_all_producers(reader: Reader) -> None:
    with hw.connect(f"sqlite:///{reader.folder / DEFAULT_STORE}") as lineage:
        runs = lineage.runs(limit=200)
        upstream = lineage.upstream("shop.daily_revenue").nodes
    assert [run.job.namespace for run in runs if run.job.name == "shop.daily"] == ["airflow"]
    assert [run.parent_run_id for run in runs if run.job.name == "job"] == [reader.values["task"]]
    assert DBT.exists() is any(run.job.namespace == "dbt" for run in runs)
    assert len(upstream) == 6


# -- the folder of the examples on Spark --------------------------------------------------------


def export_store(file: str) -> str:
    return f"export HEADWATER_STORE=sqlite:///{file}"


CAPTURED_STORE = "sqlite:///captured.db"
CAPTURED, PIPELINES = export_store("captured.db"), export_store(DEFAULT_STORE)
DEMO, RECORDS = export_store(".headwater/demo.db"), export_store("ledger/lineage.db")


def finished_pipeline(reader: Reader, example: DailyRevenue) -> None:
    """Copies the result of the example, which runs longest and is shared with other tests."""
    shutil.copytree(example.folder, reader.folder, dirs_exist_ok=True)
    (reader.folder / "examples").symlink_to(ROOT / "examples")
    reader.add_cached_result("python examples/daily_revenue.py", CommandResult(0, example.printed, ""))
    reader.values["pipeline_run"] = example.run_id


def capture_orders(reader: Reader) -> None:
    """Captures with the lines at the top of README.md, and with pair tables for docs/cli.md."""
    if "daily_run" in reader.values:
        return
    shutil.rmtree(reader.folder / "warehouse")  # of the other example; no command queries its rows
    script = (ROOT / "examples" / "orders_daily.py").read_text()
    session, end = "        .getOrCreate()\n    )\n", "    spark.stop()\n"
    assert (script.count(session), script.count(end)) == (1, 1)
    tables = 'rows="full", rows_location="lineage/rows"'
    enabled = (
        f'    import headwater as hw\n    hw.enable(spark, store="{CAPTURED_STORE}", namespace="prod", {tables})\n'
    )
    script = script.replace(session, session + enabled).replace(end, f"    hw.flush(600)\n{end}")
    (reader.folder / "orders_daily.py").write_text(script)
    reader.run("python orders_daily.py")
    with hw.connect(f"sqlite:///{reader.folder}/captured.db") as lineage:
        runs = {run.job.name.removeprefix("orders_daily."): run.run_id for run in lineage.runs()}
    reader.values |= {"daily_run": runs["default.daily_revenue"], "priced_run": runs["warehouse/orders_priced"]}


def shop_dead_letters(reader: Reader) -> None:
    """Three dead letters, and then a fix that works for two of them."""
    if "shop_run" in reader.values:
        return
    reader.run(PIPELINES)
    orders = [{"order_id": number, "currency": name} for number, name in enumerate(("EUR", "USD", "USD", "GBP"))]
    (reader.folder / "orders.json").write_text("".join(f"{json.dumps(order)}\n" for order in orders))
    (reader.folder / "shop.py").write_text(SHOP)
    reader.values["shop_run"] = reader.run("python shop.py").split()[-1]
    (reader.folder / "shop.py").write_text(SHOP.replace('{"EUR": 1.0}', '{"EUR": 1.0, "USD": 0.92}'))


def readme_examples(reader: Reader) -> None:
    capture_orders(reader)
    demo_store(reader, "shop.db")
    shutil.copy(ROOT / "examples" / "carbon_records.jsonl", reader.folder)
    reader.run(CAPTURED)


def reference_examples(reader: Reader) -> None:
    capture_orders(reader)
    shop_dead_letters(reader)
    demo_store(reader, ".headwater/demo.db")
    add_landing_file(reader, "landing", "reference", 3)


def record_requests(reader: Reader) -> None:
    (requests,) = (
        block.text for block in blocks((ROOT / "docs" / "records.md").read_text()) if block.language == "jsonl"
    )
    (reader.folder / "requests.jsonl").write_text(requests)
    add_landing_file(reader, "landing", "first", 2)
    reader.run(RECORDS)


def add_landing_file(reader: Reader, folder: str, root: str, count: int) -> None:
    """Adds a file of requests, complete when it appears."""
    line = {"root_id": root, "parent_id": root, "action_taken": "LANDED", "storage_location": "s3://lake/landed"}
    (reader.folder / folder).mkdir(exist_ok=True)
    (reader.folder / f"{root}.jsonl").write_text(f"{json.dumps(line)}\n" * count)
    (reader.folder / f"{root}.jsonl").rename(reader.folder / folder / f"{root}.jsonl")


def add_second_landing_file(reader: Reader) -> None:
    add_landing_file(reader, "landing", "second", 1)


def second_file_is_archived(reader: Reader) -> bool:
    with hw.connect(f"sqlite:///{reader.folder}/ledger/lineage.db") as lineage:
        return bool(lineage.records.find(root="second"))
