"""`headwater records`: the record ledger. One file a command; they are put together in `group.py`."""
