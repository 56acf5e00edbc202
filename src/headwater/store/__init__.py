"""The store: events as received, the graph folded from them, the audit log, the record ledger. `store.py` is all."""
