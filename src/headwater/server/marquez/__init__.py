"""Marquez's read API over this store, for Marquez clients: ``routes``, ``shapes`` and their ``schemas``."""
