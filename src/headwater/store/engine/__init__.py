"""Opening a database: SQLite or PostgreSQL, transactions, and their errors turned into ours.

`database.py` opens one; outside this package, nothing should have to know which it is. `prepared.py` and `pending.py`
run the fold's statements, compiled once, on the driver's own cursor; those without an answer travel with the next
question. `dialect.py` is what the databases say differently. `backup.py` copies a store while others write;
`write_probe.py` finds out by writing whether it can be written, `health.py` what `headwater doctor` shows of it.

**One writer.** A write takes SQLite's write lock or a PostgreSQL advisory lock: the audit log is one chain, and the
fold may read before it writes. Events are read, parsed and checked before the lock, threads share commits, and readers
never wait.
"""
