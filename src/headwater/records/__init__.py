"""The record ledger: what was done to each record on its way, traced from every leaf to its root, and archived."""
