"""The job of the trial: reads and writes three rows under capture, in the current folder."""

from __future__ import annotations

STORE, SOURCE, TARGET = "lineage.db", "trial_source", "trial_target"
_TIMEOUT = 60.0


def main() -> None:
    from pyspark.sql import SparkSession

    import headwater as hw

    spark = (
        SparkSession.builder.master("local[1]")
        .appName("headwater-doctor")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.range(3).write.parquet(SOURCE)
    hw.enable(spark, store=f"sqlite:///{STORE}", namespace="doctor", spool="spool")
    spark.read.parquet(SOURCE).write.parquet(TARGET)
    delivered = hw.flush(_TIMEOUT)
    hw.disable(spark)
    spark.stop()
    if not delivered:
        raise SystemExit("The captured events did not reach the store in time.")


if __name__ == "__main__":
    main()
