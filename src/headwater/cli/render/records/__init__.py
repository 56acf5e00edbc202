"""Renders the answers of the record ledger for the terminal."""
