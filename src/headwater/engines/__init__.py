"""Engines that run SQL on rows. Nothing outside this package opens a connection to DuckDB."""
