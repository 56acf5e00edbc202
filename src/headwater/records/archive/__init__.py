"""The archive: its files and commits, without Spark.

archive      location, file names, commits, expiry
files        reads and writes files, and computes their digests
schemas      the Arrow schemas of the files
single_root  archives one root without Spark
attempts     takes an attempt to its commit, or discards it
leases       renews the lease of an attempt
"""
