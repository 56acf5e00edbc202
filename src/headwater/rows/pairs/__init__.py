"""Pair tables: the source rows behind each row of an output, as Parquet files, looked up without Spark."""
