"""Queries over hot records and archive together.

reading      the records of a root, and searches
sql          queries in SQL with DuckDB or Spark
statements   checks that a query only reads the ledger's tables
spark_views  the tables as views in Spark
"""
