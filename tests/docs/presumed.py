"""What pages take for granted: stores, files, jobs; what happens between their commands, and what came of them."""

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
from tests.docs.shell import Answer
from tests.server.test_dbt import FILES as DBT_PROJECT
from tests.server.test_dbt import PROGRAM as DBT
from tests.support.console import blocks
from tests.support.daily_revenue import DailyRevenue
from tests.support.dead_letters import SHOP
from tests.support.postgres import INSTALLATION, SUPERUSER, PostgresServer, find_package

Step = Callable[[Reader], None]

DEFAULT_STORE = ".headwater/lineage.db"


def nothing(_: Reader) -> None:
    pass


def demo(reader: Reader, file: str = DEFAULT_STORE) -> None:
    """A store with the demo's events; where it is looked for, unless another is named."""
    with hw.connect(f"sqlite:///{reader.folder / file}") as lineage:
        lineage.ingest_many(orders_events())


# -- evidence -------------------------------------------------------------------------------------


def signing(reader: Reader) -> None:
    demo(reader)
    reader.values["vkey"] = lambda: verifier_key(reader)


def verifier_key(reader: Reader) -> str:
    return str(json.loads(reader.types("headwater keys show --json"))["log"][-1]["key"])


def signed_by_hand(reader: Reader) -> None:
    """The newest checkpoint taken apart as docs/assurance.md says."""
    *text, last = max((reader.folder / "elsewhere").iterdir()).read_text().splitlines()
    assert text.pop() == ""
    (reader.folder / "text").write_text("".join(f"{line}\n" for line in text))
    (reader.folder / "signature").write_bytes(base64.b64decode(last.split()[-1])[4:])
    (key_file,) = reader.shell.home.rglob("signing.pem")
    public = load_pem_private_key(key_file.read_bytes(), None).public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (reader.folder / "public.pem").write_bytes(pem)


def at_another_machine(reader: Reader) -> None:
    """With nothing of ours but the file, the key, and what can be seen of the second place."""
    reader.values["vkey"] = verifier_key(reader)
    theirs = reader.folder.with_name("theirs")
    theirs.mkdir()
    shutil.copy(reader.folder / "evidence.json", theirs)
    shutil.copytree(reader.folder / "elsewhere", theirs / "checkpoints")
    reader.shell.folder = theirs


# -- databases ------------------------------------------------------------------------------------


def a_database_server(reader: Reader, server: PostgresServer) -> None:
    """As whoever runs `createdb` has it; and a store in a file, to be moved there."""
    demo(reader)
    reader.types(f"export PGHOST={server.folder / 'socket'} PGUSER={SUPERUSER}")
    createdb = find_package() / INSTALLATION / "bin" / "createdb"
    reader.shell.tool("createdb", f'exec {createdb} "$@"')
    reader.values["postgres"] = server.plain_url("lineage")


def moved(reader: Reader) -> None:
    with hw.connect(str(reader.values["postgres"])) as lineage:
        assert len(lineage.upstream("shop.daily_revenue").nodes) == 6


# -- a server ------------------------------------------------------------------------------------


def asked_over_http(reader: Reader) -> None:
    """`curl` is content with whatever it is answered."""
    for command, answer in reader.answers.items():
        if command.startswith("curl"):
            found = [node["endpoint"]["name"] for node in json.loads(answer.out)["nodes"]]
            assert "silver/orders_enriched" in found


# -- jobs -----------------------------------------------------------------------------------------

JOB = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.appName("job").getOrCreate()
spark.range(3).write.mode("overwrite").parquet("numbers")
spark.stop()
"""


def a_job(reader: Reader) -> None:
    import pyspark

    (reader.folder / "job.py").write_text(JOB)
    reader.shell.tool("spark-submit", f'exec {pyspark.__path__[0]}/bin/spark-submit "$@"')


def captured_twice(reader: Reader) -> None:
    with hw.connect(reader.here("sqlite:////srv/lineage/lineage.db")) as lineage:
        runs = lineage.runs()
    assert [str(run.job) for run in runs if run.job.name == "job"] == ["prod/job"] * 2
    assert {run.state for run in runs} == {RunState.COMPLETE}


# -- those who send events ------------------------------------------------------------------------

AIRFLOW = """
import datetime, os, uuid
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
now = datetime.datetime.now(datetime.timezone.utc).isoformat()
run, job = Run(str(uuid.uuid4())), Job(os.environ["OPENLINEAGE_NAMESPACE"], "shop.daily")
who = "https://airflow.apache.org"
OpenLineageClient().emit(RunEvent(eventType=RunState.COMPLETE, eventTime=now, run=run, job=job, producer=who))
"""


def senders(reader: Reader) -> None:
    a_job(reader)
    for name, text in DBT_PROJECT.items():
        file = reader.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    if DBT.exists():
        reader.shell.tool("dbt-ol", f'PATH={DBT.parent}:$PATH exec {DBT} "$@"')
    (reader.folder / "events.jsonl").write_bytes(b"\n".join(orders_events()))
    reader.values["secret"] = lambda: reader.answers["headwater access add airflow --scope write"].out.split()[0]


def airflow_tells(reader: Reader) -> None:
    """Its provider's own client, by the variables that the page has set; then there is the id of a task."""
    (reader.folder / "airflow.py").write_text(AIRFLOW)
    reader.types("python airflow.py")
    reader.values["task"] = str(uuid4())
    reader.types(f"export RUN_ID={reader.values['task']}")


def all_have_told(reader: Reader) -> None:
    with hw.connect(f"sqlite:///{reader.folder / DEFAULT_STORE}") as lineage:
        runs = lineage.runs(limit=200)
        upstream = lineage.upstream("shop.daily_revenue").nodes
    assert [run.job.namespace for run in runs if run.job.name == "shop.daily"] == ["airflow"]
    assert [run.parent_run_id for run in runs if run.job.name == "job"] == [reader.values["task"]]
    assert DBT.exists() is any(run.job.namespace == "dbt" for run in runs)
    assert len(upstream) == 6


# -- the folder of somebody who has tried the examples on Spark -----------------------------------


def store(file: str) -> str:
    return f"export HEADWATER_STORE=sqlite:///{file}"


CAPTURED_STORE = "sqlite:///captured.db"
CAPTURED, PIPELINES = store("captured.db"), store(DEFAULT_STORE)
DEMO, RECORDS = store(".headwater/demo.db"), store("ledger/lineage.db")


def pipeline_that_ran(reader: Reader, example: DailyRevenue) -> None:
    """What the example has left, which takes longer to run than all else: others look at it as well."""
    shutil.copytree(example.folder, reader.folder, dirs_exist_ok=True)
    (reader.folder / "examples").symlink_to(ROOT / "examples")
    reader.knows("python examples/daily_revenue.py", Answer(0, example.printed, ""))
    reader.values["pipeline_run"] = example.run_id


def captured_orders(reader: Reader) -> None:
    """By the lines that README.md begins with; and with pair tables, which docs/cli.md asks."""
    if "daily_run" in reader.values:
        return
    shutil.rmtree(reader.folder / "warehouse")  # the other example's, whose rows nobody asks for
    script = (ROOT / "examples" / "orders_daily.py").read_text()
    session, end = "        .getOrCreate()\n    )\n", "    spark.stop()\n"
    assert (script.count(session), script.count(end)) == (1, 1)
    tables = 'rows="full", rows_location="lineage/rows"'
    enabled = (
        f'    import headwater as hw\n    hw.enable(spark, store="{CAPTURED_STORE}", namespace="prod", {tables})\n'
    )
    script = script.replace(session, session + enabled).replace(end, f"    hw.flush(600)\n{end}")
    (reader.folder / "orders_daily.py").write_text(script)
    reader.types("python orders_daily.py")
    with hw.connect(f"sqlite:///{reader.folder}/captured.db") as lineage:
        runs = {run.job.name.removeprefix("orders_daily."): run.run_id for run in lineage.runs()}
    reader.values |= {"daily_run": runs["default.daily_revenue"], "priced_run": runs["warehouse/orders_priced"]}


def letters_of_a_shop(reader: Reader) -> None:
    """Three of them, and then a fix that does for two."""
    if "shop_run" in reader.values:
        return
    reader.types(PIPELINES)
    orders = [{"order_id": number, "currency": name} for number, name in enumerate(("EUR", "USD", "USD", "GBP"))]
    (reader.folder / "orders.json").write_text("".join(f"{json.dumps(each)}\n" for each in orders))
    (reader.folder / "shop.py").write_text(SHOP)
    reader.values["shop_run"] = reader.types("python shop.py").split()[-1]
    (reader.folder / "shop.py").write_text(SHOP.replace('{"EUR": 1.0}', '{"EUR": 1.0, "USD": 0.92}'))


def what_the_readme_shows(reader: Reader) -> None:
    captured_orders(reader)
    demo(reader, "shop.db")
    shutil.copy(ROOT / "examples" / "carbon_records.jsonl", reader.folder)
    reader.types(CAPTURED)


def what_the_reference_shows(reader: Reader) -> None:
    captured_orders(reader)
    letters_of_a_shop(reader)
    demo(reader, ".headwater/demo.db")
    land(reader, "landing", "reference", 3)


def requests_to_send(reader: Reader) -> None:
    (requests,) = (
        block.text for block in blocks((ROOT / "docs" / "records.md").read_text()) if block.language == "jsonl"
    )
    (reader.folder / "requests.jsonl").write_text(requests)
    land(reader, "landing", "first", 2)
    reader.types(RECORDS)


def land(reader: Reader, folder: str, root: str, count: int) -> None:
    """A file of requests, whole when it is there."""
    line = {"root_id": root, "parent_id": root, "action_taken": "LANDED", "storage_location": "s3://lake/landed"}
    (reader.folder / folder).mkdir(exist_ok=True)
    (reader.folder / f"{root}.jsonl").write_text(f"{json.dumps(line)}\n" * count)
    (reader.folder / f"{root}.jsonl").rename(reader.folder / folder / f"{root}.jsonl")


def another_lands(reader: Reader) -> None:
    land(reader, "landing", "second", 1)


def has_landed(reader: Reader) -> bool:
    with hw.connect(f"sqlite:///{reader.folder}/ledger/lineage.db") as lineage:
        return bool(lineage.records.find(root="second"))
