"""Pair tables: the source rows of each output row, as Parquet files that DuckDB looks up without Spark.

capture.py and write.py write them (layout.py says where and what), opening.py and reading.py check them, lookup.py
answers questions, folders.py lists and prunes them.
"""
