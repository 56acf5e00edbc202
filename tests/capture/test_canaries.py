"""Forty secrets, planted wherever Spark lets one be, and looked for wherever anything of a job may end up."""

from __future__ import annotations

import base64
import json
import logging
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.capture.delivery.delivery import Delivery
from headwater.capture.listener import session
from headwater.formats.openlineage.claims.preimages import wrong_hashes
from headwater.proof.keys import KeyRing
from headwater.redaction.shapes import MARK
from headwater.store.store import Store
from tests.capture.shop import DERBY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Json = dict[str, Any]
BYSTANDER = "merely a literal"
NOWHERE = "http://127.0.0.1:9"


@dataclass
class Planted:
    """Each secret by where it was planted."""

    secrets: dict[str, str] = field(default_factory=dict)

    def __call__(self, where: str, form: str = "{}") -> str:
        secret = f"Kanarie{len(self.secrets):02}xQ7z"
        self.secrets[where] = secret
        return form.format(secret)

    def found_in(self, content: bytes) -> list[str]:
        return [where for where, secret in self.secrets.items() if secret.encode() in content]


@dataclass
class Flown:
    """What is left of the job."""

    planted: Planted
    before: bytes
    """The events before anything was removed."""
    events: list[Json]
    sinks: dict[str, bytes]


def packed_parts(value: Any) -> Iterator[bytes]:
    """Kept plans and lists of files, unpacked."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in ("bytes", "list") and isinstance(inner, str):
                yield zlib.decompress(base64.b64decode(inner))
            else:
                yield from packed_parts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from packed_parts(inner)


def write_all(spark: SparkSession, shop: Path, here: Path, plant: Planted) -> None:
    in_sql(spark, here, plant)
    in_options(spark, here, plant)
    in_errors(spark, here, plant)
    in_a_stream(spark, shop, here, plant)


def in_sql(spark: SparkSession, here: Path, plant: Planted) -> None:
    view = plant("view definition", "'{}'")
    spark.sql(f"CREATE VIEW canaries.v AS SELECT id, {view} AS api_key FROM shop.customers")
    values = ", ".join(
        (
            plant("literal: token of a service", "'ghp_{}aaaaaaaaaaaaaaaaaaaa' AS c1"),
            plant("literal: JSON web token", "'eyJhbGciOiJIUzI1NiJ9.{}.x' AS c2"),
            plant("literal: private key", "'-----BEGIN PRIVATE KEY-----{}-----END PRIVATE KEY-----' AS c3"),
            plant("literal: SAS", "'https://a.blob.core.windows.net/c?sig={}&se=1' AS c4"),
            plant("literal: key of a storage account", "'AccountName=a;AccountKey={};x=y' AS c5"),
            plant("literal: bearer", "'Authorization: Bearer {}' AS c6"),
            plant("literal: address with user", "'postgres://ada:{}@db/shop' AS c7"),
            plant("literal: Oracle", "'jdbc:oracle:thin:ada/{}@//db:1521/x' AS c8"),
            plant("literal: JSON", '\'{{"password": "{}"}}\' AS c9'),
            plant("literal of a secret column", "'{}' AS db_password"),
            plant("literal: statement for a database", "'CREATE USER ada IDENTIFIED BY {}' AS c10"),
        )
    )
    options = ", ".join(
        (
            plant("OPTIONS", "password {!r}"),
            plant("options named by a setting", "pin {!r}"),
            plant("url among OPTIONS", "url {!r}"),
        )
    )
    properties, comment = plant("TBLPROPERTIES", "'api.key' = {!r}"), plant("COMMENT", "'password={}'")
    spark.sql(
        f"CREATE TABLE canaries.t USING parquet OPTIONS (header 'true', {options}) "
        f"TBLPROPERTIES ({properties}) COMMENT {comment} "
        f"AS SELECT /* {plant('SQL comment', 'token={}')} */ v.*, {values}, '{BYSTANDER}' AS c0 FROM canaries.v v "
        f"WHERE {plant('comparison', 'api_key <> {!r}')} -- {plant('line comment', 'pwd={}')}"
    )
    spark.sql(f"INSERT INTO canaries.t2 SELECT '{plant('text named by a setting', 'AGENT-{}')}' AS a")


def in_options(spark: SparkSession, here: Path, plant: Planted) -> None:
    from pyspark.sql import functions as F

    url = f"{DERBY};user=APP;{plant('JDBC address', 'password={}')}"
    reader = spark.read.format("jdbc").option("url", url).option("password", plant("JDBC option"))
    literal = plant("query over JDBC", "'password={}'")
    query = f'(SELECT "id" AS ID, {literal} AS X FROM APP.ORDERS) Q'
    found = (
        reader.option("dbtable", query)
        .option("sessionInitStatement", plant("JDBC statement", "VALUES 'token={}'"))
        .load()
    )
    secret = plant("comparison in Python")
    found = found.where(F.col("X") != F.lit(plant("literal in Python", "secret={}")))
    found = found.withColumn("token", F.lit("x")).where(F.col("token") != secret)
    found = found.withColumn(
        "ID", F.col("ID").alias("ID", metadata={"comment": plant("column comment", "password={}")})
    )
    found.write.format("jdbc").options(url=url, dbtable="CANARIES", password=plant("writer option")).mode(
        "overwrite"
    ).save()
    by_file = spark.read.option("fs.azure.account.key.a", plant("reader option")).option("header", "true")
    by_file.parquet(f"{here}/in").write.option("encryption.key", plant("Parquet option")).mode("overwrite").parquet(
        f"{here}/{plant('path', 'out&sig={}')}"
    )
    with hw.run(
        plant("job name", "nightly password={}"),
        partition=plant("partition", "token={}"),
        rows="full",
        rows_location=f"{here}/rows",
    ):
        spark.read.parquet(f"{here}/in").where(f"name <> '{plant('row tables', 'secret={}')}'").write.parquet(
            f"{here}/full"
        )


def in_errors(spark: SparkSession, here: Path, plant: Planted) -> None:
    from pyspark.sql import functions as F

    text = plant("error of Spark", "password={}")
    with pytest.raises(Exception, match="Kanarie"):
        spark.range(1).select(F.raise_error(F.lit(text)).cast("string").alias("a")).write.parquet(f"{here}/failed")
    udf_secret = plant("error of a UDF", "login failed, password: {}")

    fail = F.udf(lambda _value: int(udf_secret))  # whose text the error quotes
    with pytest.raises(Exception, match="Kanarie"):
        spark.range(1).select(fail("id").alias("a")).write.parquet(f"{here}/failed_too")
    with pytest.raises(ValueError, match="Kanarie"), hw.run("fails"):
        raise ValueError(plant("error of the program", "cannot reach https://ada:{}@api.example"))


def in_a_stream(spark: SparkSession, shop: Path, here: Path, plant: Planted) -> None:
    lines = spark.readStream.format("text").option("password", plant("stream reader option")).load(f"{shop}/notes")
    query = (
        lines.selectExpr("value", f"'{plant('stream literal', 'pwd={}')}' AS c")
        .writeStream.format("parquet")
        .queryName(plant("stream name", "q token={}"))
        .option("sasl.jaas.config", plant("stream writer option", 'required username="u" password="{}";'))
        .option("checkpointLocation", f"{here}/checkpoint")
        .trigger(availableNow=True)
        .start(f"{here}/streamed")
    )
    assert query.awaitTermination(120)


@pytest.fixture(scope="module")
def flown(spark: SparkSession, shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Flown:
    here, plant = tmp_path_factory.mktemp("canaries"), Planted()
    before: list[bytes] = []
    log: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: log.append(logging.Formatter().format(record))  # type: ignore[method-assign]
    logger = logging.getLogger("headwater")
    level = logger.level
    hadoop: Any = spark.sparkContext._jsc
    settings = {
        "spark.sql.redaction.string.regex": "AGENT-\\w+",
        "spark.sql.redaction.options.regex": "(?i)url|^pin$",
        "spark.sql.app.passwordOfDb": plant("setting of the session"),
        "spark.sql.app.target": plant("setting with an address", "jdbc:postgresql://db/x?password={}"),
    }
    send = Delivery.send

    def overheard(self: Delivery, event: Json) -> None:
        before.append(json.dumps(event).encode())
        send(self, event)

    spark.sql(f"CREATE DATABASE canaries LOCATION '{here}/db'")
    spark.sql("CREATE TABLE canaries.t2 (a string) USING parquet")
    spark.sql("SELECT 1 AS id, 'ada' AS name").write.parquet(f"{here}/in")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Delivery, "send", overheard)
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        for name, value in settings.items():
            spark.conf.set(name, value)
        hadoop.hadoopConfiguration().set("fs.s3a.secret.key", plant("Hadoop's configuration"))
        spark.sparkContext.setJobDescription(plant("job description", "load with password={}"))
        try:
            file, store = here / "events.jsonl", here / "lineage.db"
            job = plant("application", "app?sig={}")
            hw.enable(
                spark,
                sink=[file.as_uri(), NOWHERE],
                store=f"sqlite:///{store}",
                namespace="canaries",
                job=job,
                spool=here / "spool",
            )
            write_all(spark, shop, here, plant)
            wait_until_told()
            spool = {f"spool {path.name}": path.read_bytes() for path in (here / "spool").rglob("*") if path.is_file()}
            database = {path.name: path.read_bytes() for path in here.glob("lineage.db*")}
            hw.disable(spark)
        finally:
            spark.sparkContext.setJobDescription("")
            hadoop.hadoopConfiguration().unset("fs.s3a.secret.key")
            for name in settings:
                spark.conf.unset(name)
            logger.removeHandler(handler)
            logger.setLevel(level)
            spark.sql("DROP DATABASE canaries CASCADE")
    database |= {f"{path.name} afterwards": path.read_bytes() for path in here.glob("lineage.db*")}
    events = [json.loads(line) for line in file.read_bytes().splitlines()]
    tables = {f"rows {path.name}": path.read_bytes() for path in (here / "rows").rglob("*") if path.is_file()}
    bundles = {}
    with Store(f"sqlite:///{store}") as lineage:
        lineage.checkpoint(key=KeyRing.create(here / "key.pem"))
        for event in events:
            if event.get("eventType") == "COMPLETE" and "cdme.runManifest" in event["run"]["facets"]:
                run = event["run"]["runId"]
                bundles[f"bundle {run}"] = lineage.bundle(run)
    return Flown(
        plant,
        b"\n".join([*before, *(part for line in before for part in packed_parts(json.loads(line)))]),
        events,
        {
            "file": file.read_bytes(),
            "kept plans": b"\n".join(part for event in events for part in packed_parts(event)),
            "log": "\n".join(log).encode(),
            **spool,
            **database,
            **tables,
            **bundles,
        },
    )


def wait_until_told(ceiling: float = 120.0) -> None:
    """Until the sinks that work have all events; one does not."""
    (capture,) = session.active()
    assert capture._observer.catch_up(ceiling)
    until = time.monotonic() + ceiling
    while True:
        counts = capture.status()["sinks"]
        waiting = [count.waiting for name, count in counts.items() if "127.0.0.1" not in name]
        if not any(waiting) or time.monotonic() > until:
            break
        capture._delivery.flush(0.1)
    assert waiting == [0, 0]
    assert capture.status()["faults"] == 0


def test_forty_were_planted_and_most_would_have_flown_out(flown: Flown) -> None:
    assert len(flown.planted.secrets) >= 40
    unredacted = flown.planted.found_in(flown.before)
    assert len(unredacted) >= 25, unredacted


def test_none_flew_out(flown: Flown) -> None:
    assert {name: found for name, content in flown.sinks.items() if (found := flown.planted.found_in(content))} == {}


def test_the_sinks_were_looked_into(flown: Flown) -> None:
    names = list(flown.sinks)
    assert any(name.startswith("spool") for name in names)
    assert any(name.startswith("rows") for name in names)
    assert any(name.startswith("bundle") for name in names)
    assert any(name.startswith("lineage.db-wal") for name in names)
    for name in ("file", "lineage.db afterwards"):
        assert MARK.encode() in flown.sinks[name], name
        assert BYSTANDER.encode() in flown.sinks[name], name


def test_what_hashes_are_of_still_stands_beside_them(flown: Flown) -> None:
    manifests = [
        event["run"]["facets"]["cdme.runManifest"]
        for event in flown.events
        if "cdme.runManifest" in event.get("run", {}).get("facets", {})
    ]
    assert any(MARK in json.dumps(manifest) for manifest in manifests)
    assert [wrong_hashes(manifest) for manifest in manifests] == [[]] * len(manifests)


def test_a_query_with_a_secret_is_not_kept_and_the_facet_says_so(flown: Flown) -> None:
    kept = [
        output["outputFacets"]["headwater_rows"]
        for event in flown.events
        for output in event.get("outputs", ())
        if "headwater_rows" in output.get("outputFacets", {})
    ]
    without = [rows for rows in kept if "plan" not in rows]
    assert without
    for rows in without:
        assert rows["replayable"] is False
    assert any("what looks like a secret" in need for rows in without for need in rows["needs"])
