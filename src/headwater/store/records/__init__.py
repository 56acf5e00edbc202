"""The tables of the record ledger.

queue     messages and dead letters
hot       the hot records
scan      reads hot records in parallel, also on executors
archive   the catalog: files of the archive, and what is archived
attempts  attempts at compactions, and their leases
evidence  entries of loads and commits in the log
"""
