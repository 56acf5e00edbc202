"""The store's schema, version by version. Alembic runs them; each commits together with the record that it ran."""

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009")
"""Oldest first. Kept here so that opening a store that is up to date need not import Alembic; a test keeps it true."""

HEAD = REVISIONS[-1]
VERSION_TABLE = "headwater_version"
