"""Names of places, without Spark: paths, databases behind JDBC, topics."""

from __future__ import annotations

import pytest

from headwater.capture.listener.plan_facts import Facts
from headwater.capture.naming.catalogs import Catalogs
from headwater.capture.naming.jdbc import database
from headwater.capture.naming.paths import file_datasets
from headwater.capture.naming.plan_sources import read_leaf
from headwater.capture.naming.targets import read_target

CATALOGS = Catalogs("file:/warehouse", None, {})


@pytest.mark.parametrize(
    ("uri", "named"),
    [
        ("file:/data/orders", "file /data/orders"),
        ("file:///data//orders/", "file /data/orders"),
        ("/data/orders", "file /data/orders"),
        ("s3a://lake/raw/orders", "s3://lake raw/orders"),
        ("s3n://lake/", "s3://lake /"),
        ("gs://lake/raw", "gs://lake raw"),
        ("abfss://box@account.dfs.core.windows.net/raw", "abfss://box@account.dfs.core.windows.net raw"),
        ("hdfs://node:8020/user/orders", "hdfs://node:8020 /user/orders"),
        ("dbfs:/mnt/orders", "dbfs:// /mnt/orders"),
        ("s3://lake/orders/day=2026-11-15", "s3://lake orders"),
        ("s3://lake/orders/2026/11/15", "s3://lake orders"),
        ("s3://lake/2026-11-15", "s3://lake /"),
        ("file:/data/a b/c%d", "file /data/a b/c%d"),
        ("s3://lake/orders/2026-11-15T06:00:00", "s3://lake orders"),
        ("hdfs://node:8020/orders/run_17", "hdfs://node:8020 /orders"),
    ],
)
def test_paths(uri: str, named: str) -> None:
    (place,) = file_datasets([uri])
    assert f"{place.namespace} {place.name}" == named


@pytest.mark.parametrize(
    ("roots", "asked", "base", "told"),
    [
        (["file:/d/t/k=1/j=2"], None, None, "/d/t k=1,j=2"),
        (["file:/d/t/k=1", "file:/d/t/k=2"], "/d/t/k=*", None, "/d/t k=1|k=2"),
        (["file:/d/t/k=1", "file:/d/t"], None, None, "/d/t"),
        (["file:/d/t/k=a%3Ab"], None, None, "/d/t k=a:b"),
        (["file:/d/t/a", "file:/d/t/b"], "t/[ab]", None, "/d/t path=a|path=b"),
        (["file:/d/t/a.csv", "file:/d/t/b.csv"], "t/*.csv", None, "/d/t"),
        (["file:/d/x/t/k=1"], None, "t", "/d/x/t k=1"),
        (["file:/t/x/t/k=1"], None, "./t", "/t/x/t k=1"),
        (["file:/d/t/k=1"], None, "../d/t/", "/d/t k=1"),
        (
            ["file:/d/t/2026/11/14", "file:/d/t/2026/11/15"],
            "/d/t/2026/*/*",
            None,
            "/d/t date=2026/11/14|date=2026/11/15",
        ),
        (["file:/d/t/20261114T06"], None, None, "/d/t date=20261114T06"),
        (["file:/d/t/part-00000-73ded144-a1f0-400d-b65e-99469e4f5d78-c000.parquet"], None, None, "/d/t"),
        (["file:/d/t/*/*.csv"], None, None, "/d/t"),
    ],
)
def test_partitions(roots: list[str], asked: str | None, base: str | None, told: str) -> None:
    (place,) = file_datasets(roots, requested=asked, base=base)
    named = "|".join(",".join(f"{key}={value}" for key, value in each.items()) for each in place.partitions)
    assert f"{place.name} {named}".strip() == told


UUID = "7f9c24e8-1d3b-4d55-9a0e-3b2f0b6a1c11"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("exp/run_20261118T060000", "exp run=20261118T060000"),
        ("exp/run=20261118T060000", "exp run=20261118T060000"),
        ("exp/RUN-2026-11-18", "exp run=2026-11-18"),
        ("exp/run_20261118T060000_1a2b3c4d", "exp run=20261118T060000_1a2b3c4d"),
        (f"exp/run_id={UUID}", f"exp run_id={UUID}"),
        ("exp/batch_0042", "exp batch=0042"),
        ("exp/export-2026-11-18", "exp export=2026-11-18"),
        ("exp/scheduled__2026-11-18T06:00:00+00:00", "exp scheduled=2026-11-18T06:00:00+00:00"),
        ("exp/application_1763445600000_0001", "exp application=1763445600000_0001"),
        ("exp/v=3", "exp v=3"),
        (f"exp/{UUID}", f"exp id={UUID}"),
        ("exp/01HF7YAT31JZHSMW1CG6Q6MHB7", "exp id=01HF7YAT31JZHSMW1CG6Q6MHB7"),
        ("exp/2026-11-18T06:00:00Z", "exp date=2026-11-18T06:00:00Z"),
        ("exp/2026-11-18T06-00-00Z", "exp date=2026-11-18T06-00-00Z"),
        ("exp/20261118_060000", "exp date=20261118_060000"),
        ("exp/2026_11_18", "exp date=2026_11_18"),
        ("exp/2026-11", "exp date=2026-11"),
        ("exp/2026-W47", "exp date=2026-W47"),
        ("exp/1763445600", "exp time=1763445600"),
        ("exp/1763445600123", "exp time=1763445600123"),
        ("exp/2026-11-18.csv", "exp date=2026-11-18.csv"),
        ("landing/orders_20261118", "landing/orders date=20261118"),
        ("landing/orders-2026-11-18.csv.gz", "landing/orders.csv.gz date=2026-11-18"),
        ("landing/20261118_orders", "landing/orders date=20261118"),
        (f"landing/orders-{UUID}.json", f"landing/orders.json id={UUID}"),
        ("exp/run_20261118/k=1", "exp run=20261118,k=1"),
        (f"exp/2026-11-18/{UUID}", f"exp date=2026-11-18,id={UUID}"),
        ("runs/run_20261118T060000/metrics", "runs/metrics run=20261118T060000"),
        ("raw/2026-11-18/orders", "raw/orders date=2026-11-18"),
        # What is part of a name
        ("exp/v2", "exp/v2"),
        ("exp/orders2026", "exp/orders2026"),
        ("exp/run", "exp/run"),
        ("exp/top_100", "exp/top_100"),
        ("exp/20269999", "exp/20269999"),
        ("exp/8005551234", "exp/8005551234"),
        (f"tenants/{UUID}/orders", f"tenants/{UUID}/orders"),
        ("2026-11-18", "2026-11-18"),
    ],
)
def test_stamps_of_runs(path: str, told: str) -> None:
    """A name that differs from run to run is a partition: one dataset, and so one job."""
    (place,) = file_datasets([f"file:/{path}"])
    named = "|".join(",".join(f"{key}={value}" for key, value in each.items()) for each in place.partitions)
    assert f"{place.name} {named}".strip() == f"/{told}"


def test_a_table_in_a_folder_called_by_its_id() -> None:
    (place,) = file_datasets([f"file:/tables/{UUID}"], format="delta")
    assert place.name == f"/tables/{UUID}"


def test_folders_of_runs_by_a_glob() -> None:
    roots = [f"file:/raw/2026-11-{day}/orders" for day in (14, 15)]
    (place,) = file_datasets(roots, requested="/raw/*/orders")
    assert (place.name, place.partitions) == ("/raw/orders", ({"date": "2026-11-14"}, {"date": "2026-11-15"}))


@pytest.mark.parametrize(
    ("url", "table", "named"),
    [
        ("jdbc:postgresql://db/shop", "orders", "postgres://db:5432 shop.public.orders"),
        ("jdbc:postgresql://db:6000/shop?user=u&password=p", 'Sales."Orders"', "postgres://db:6000 shop.sales.Orders"),
        ("jdbc:mysql://db/shop", "orders", "mysql://db:3306 shop.orders"),
        ("jdbc:mariadb://u:p@db:3307/shop", "orders", "mysql://db:3307 shop.orders"),
        ("jdbc:sqlserver://db:1433;databaseName=shop;user=u", "dbo.orders", "mssql://db:1433 shop.dbo.orders"),
        ("jdbc:oracle:thin:@db:1521:ORCL", "scott.orders", "oracle://db:1521 ORCL.SCOTT.ORDERS"),
        ("jdbc:oracle:thin:@//db:1521/XE", '"Orders"', "oracle://db:1521 XE.Orders"),
        ("jdbc:derby:memory:shop;create=true", "orders", "derby:memory:shop APP.ORDERS"),
        ("jdbc:sqlite:/data/shop.db", "orders", "sqlite:/data/shop.db orders"),
        ("jdbc:redshift:iam://db/shop", "orders", "redshift://db:5439 shop.public.orders"),
        ("jdbc:odd", "orders", "jdbc:odd orders"),
    ],
)
def test_databases(url: str, table: str, named: str) -> None:
    place = database(url).table(table)
    assert f"{place.namespace} {place.name}" == named
    assert "p@" not in place.namespace


def test_a_topic_of_kafka() -> None:
    """Kafka's own classes are not among Spark's; these are the facts that its tables answer with."""
    options = {"kafka.bootstrap.servers": "one:9092,two:9092", "subscribe": "orders, returns"}
    facts: Facts = {
        "class": "StreamingDataSourceV2ScanRelation",
        "tableClass": "org.apache.spark.sql.kafka010.KafkaTable",
    }
    reading = read_leaf({**facts, "options": options}, CATALOGS)
    assert [(place.namespace, place.name, place.kind) for place in reading.datasets] == [
        ("kafka://one:9092", "orders", "TOPIC"),
        ("kafka://one:9092", "returns", "TOPIC"),
    ]
    by_pattern = read_leaf({**facts, "options": options | {"subscribe": "", "subscribePattern": "o.*"}}, CATALOGS)
    assert by_pattern.gap == "Kafka: topics chosen by o.*"


def test_a_command_that_nobody_knows_has_no_target() -> None:
    leaf: Facts = {"class": "LogicalRelation", "parent": 0, "roots": ["file:/d/t"], "ids": [1]}
    assert read_target([{"class": "SomebodysCommand", "parent": -1}, leaf], CATALOGS) is None
