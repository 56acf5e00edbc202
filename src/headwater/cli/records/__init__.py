"""`headwater records`: the record ledger. One module per command; `group.py` assembles them."""
