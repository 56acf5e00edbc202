"""Rows on which a row function failed: their tables (tables.py), which of them wait for a replay (waiting.py), and the
replay."""
