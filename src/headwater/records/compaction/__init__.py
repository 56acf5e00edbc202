"""Compaction: archives hot records with Spark.

compaction       one compaction from start to commit
hot_source       the hot table as a DataFrame
merging          new records against the archive
archive_attempt  one attempt: merge, trace, write
writing          writes files and reads them back
hadoop_fs        folders on Spark's file systems
events           the compaction as a run in the lineage graph
result           what a compaction returns
shipping         sends modules to executors
spark_sessions   the settings of Spark
"""
