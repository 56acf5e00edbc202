"""Intake of records: from requests to the queue, from the queue to the hot table, and from files to the archive.

requests       reads requests, and refuses invalid records
sending        queues records
loading        loads batches of the queue into the hot table
worker         the process that loads, archives roots, expires and compacts
stream         archives files of requests with Spark
refused_lines  lines that the stream refuses, as dead letters
"""
