"""The store's schema, version by version. Alembic runs them; each commits together with the record that it ran."""

from pathlib import Path

REVISIONS = tuple(sorted(file.name[:4] for file in (Path(__file__).parent / "versions").glob("[0-9]*_*.py")))
"""Oldest first, by the names of the files: opening a store that is up to date does not import Alembic."""

HEAD = REVISIONS[-1]
VERSION_TABLE = "headwater_version"
