"""The record ledger: the actions on every record, traced from each leaf to its root, and archived.

ledger      `lin.records`: the entry to all of it
intake      requests, the queue's worker, and the stream
archive     the files of the archive and their commits, without Spark
compaction  archiving with Spark
tracing     from records to the trace of every leaf
executor    functions that run on Spark's executors
query       reading records, and queries in SQL
verify      records against the log
"""
