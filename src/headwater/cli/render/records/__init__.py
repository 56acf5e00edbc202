"""How the answers of the record ledger are shown."""
