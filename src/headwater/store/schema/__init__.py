"""What is stored: tables, the version a database has, and the migrations that bring it up to date (Alembic).

`tables.py` has the facts (events), the entities and the folded graph; `access_tables.py` keys and sessions,
`record_tables.py` the record ledger. `name_keys.py` makes unique keys out of names.

**Names are data.** Opaque strings, bound parameters, any length: unique keys are SHA-256 of the names, because a B-tree
entry has a size limit and names do not. Two things cannot be stored by any database text, NUL and unpaired surrogates;
they are refused in names.
"""
