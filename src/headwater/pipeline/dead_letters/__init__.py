"""Rows that a row function gave up: their tables (tables.py), which of them wait for a replay (waiting.py), and the
replay."""
