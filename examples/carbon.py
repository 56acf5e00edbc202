"""Carbon accounting: what was burnt at which site becomes emissions, a daily report, and what they cost.

    python examples/carbon.py
    headwater serve

The jobs are ordinary PySpark; `hw.enable` is all that captures them, and keeps which rows came from which. One of
them fails, one hides its work from lineage in an RDD, and one is a declared pipeline that gives up on some of its
items: what the page has to say of each is worth a look. What is read is checked first, by rules. Writes into ./carbon
of the current folder, and its lineage into ./.headwater.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

import headwater as hw

SEED = 20261115
ACTIVITIES = 2_000
DAYS = [f"2026-11-{day:02}" for day in range(10, 16)]
FACTORS = {"diesel": 2.68, "gas": 1.90, "power": 0.38}  # kg of CO2 for a litre, a cubic metre, a kilowatt-hour
SITES = {f"site-{number}": country for number, country in enumerate(["DE", "FR", "PL", "US", "DE", "PL"], 1)}
PRICES = {"DE": 0.055, "FR": 0.045, "PL": 0.020}  # euros for a kg; the United States have none


def activities() -> list[tuple[int, str, str, str, float]]:
    """The same ones every time. Some amounts were typed in with a wrong sign, and one site is in no register."""
    chance = random.Random(SEED)
    found = []
    for number in range(1, ACTIVITIES + 1):
        site = chance.choice([*SITES, "site-9"])
        amount = round(chance.uniform(5, 500), 2) * (-1 if chance.random() < 0.03 else 1)
        found.append((number, chance.choice(DAYS), site, chance.choice([*FACTORS]), amount))
    return found


def write_sources(spark: SparkSession, lake: str) -> None:
    columns = "activity_id long, day string, site string, fuel string, amount double"
    spark.createDataFrame(activities(), columns).write.mode("overwrite").parquet(f"{lake}/raw/activity")
    factors = spark.createDataFrame([*FACTORS.items()], "fuel string, kg_per_unit double")
    factors.write.mode("overwrite").parquet(f"{lake}/raw/factors")
    sites = spark.createDataFrame([*SITES.items()], "site string, country string")
    sites.write.mode("overwrite").parquet(f"{lake}/raw/sites")


def checked(spark: SparkSession, lake: str) -> None:
    """What is wrong with the activities, before anything is made of them."""
    found = hw.quality(
        spark.read.parquet(f"{lake}/raw/activity"),
        rules=[
            hw.rules.not_null("site"),
            hw.rules.unique("activity_id"),
            hw.rules.in_range("amount", low=0),
            hw.rules.custom("fuel with a factor", "fuel IN ('diesel', 'gas', 'power')"),
        ],
    )
    for each in found.validations:
        print(f"  {each.rule_name}: {'holds' if each.passed else f'broken by {each.failed_count} rows'}")


def emissions(spark: SparkSession, lake: str) -> None:
    activity = spark.read.parquet(f"{lake}/raw/activity").where("amount > 0")
    known = activity.join(spark.read.parquet(f"{lake}/raw/factors"), "fuel")
    placed = known.join(spark.read.parquet(f"{lake}/raw/sites"), "site")
    kg = F.round(F.col("amount") * F.col("kg_per_unit"), 2).alias("kg")
    placed.select("activity_id", "day", "site", "country", kg).write.mode("overwrite").parquet(f"{lake}/emissions")


def daily_report(spark: SparkSession, lake: str) -> None:
    spark.read.parquet(f"{lake}/emissions").createOrReplaceTempView("emissions")
    report = spark.sql(
        "SELECT day, country, sum(kg) AS kg, count(*) AS activities FROM emissions GROUP BY day, country"
    )
    report.write.mode("overwrite").parquet(f"{lake}/daily_report")


def peaks(spark: SparkSession, lake: str) -> None:
    """By hand, row by row: what happens in an RDD nobody can read off the plan."""
    rows = spark.read.parquet(f"{lake}/emissions").rdd.filter(lambda row: row.kg > 1_000)
    rows.map(lambda row: (row.site, row.day, row.kg)).toDF("site string, day string, kg double").write.mode(
        "overwrite"
    ).parquet(f"{lake}/peaks")


def audit_factors(spark: SparkSession, lake: str) -> None:
    """Fails, as a check should that finds something."""
    factors = spark.read.parquet(f"{lake}/raw/factors")
    stale = F.raise_error(F.lit("the factors are those of last year"))
    factors.select("fuel", F.when(F.col("kg_per_unit") > 0, stale)).write.mode("overwrite").parquet(f"{lake}/audited")


def price(row: Row) -> dict[str, Any]:
    """Where no price is known, the row becomes a dead letter: it can be tried again when there is one."""
    return {"site": row.site, "day": row.day, "eur": round(row.kg * PRICES[row.country], 2)}


def carbon_cost(lake: str) -> hw.Pipeline:
    p = hw.Pipeline("carbon_cost", namespace="carbon")
    source = p.source("emissions", lambda spark: spark.read.parquet(f"{lake}/emissions"), key="activity_id")
    billed = p.transform("billed", source, lambda frame: frame.where("kg >= 10"))
    priced = p.map("priced", billed, price, schema="site string, day string, eur double", on_error="dead_letter")
    daily = p.aggregate("by_site", priced, by=["site", "day"], eur=F.sum("eur"))
    p.sink("cost", daily, format="parquet", path=f"{lake}/cost", mode="overwrite")
    return p


def main(lake: str, store: str, rows: str) -> None:
    spark = (
        SparkSession.builder.appName("carbon")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")  # one job fails on purpose
    write_sources(spark, lake)
    hw.enable(spark, store=store, namespace="carbon", rows="full", rows_location=rows)
    print("checked …", flush=True)
    checked(spark, lake)
    for job, ledger in ((emissions, True), (daily_report, True), (peaks, False), (audit_factors, False)):
        print(f"{job.__name__} …", flush=True)
        try:
            with hw.run(job.__name__, ledger=ledger):
                job(spark, lake)
        except PySparkException as failed:
            print(f"  failed: {str(failed).splitlines()[0]}")
    print("carbon_cost …", flush=True)
    result = carbon_cost(lake).run(spark, options=hw.LineageOptions.complete())
    print("  " + ", ".join(f"{reason}: {count}" for reason, count in result.counts.items()))
    hw.flush()
    hw.disable(spark)
    spark.stop()


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "carbon").resolve()
    kept = Path(".headwater").resolve()
    main(
        str(folder),
        sys.argv[2] if len(sys.argv) > 2 else f"sqlite:///{kept}/lineage.db",
        sys.argv[3] if len(sys.argv) > 3 else str(kept / "rows"),
    )
