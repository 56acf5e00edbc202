"""Makes a store one of an earlier version: removes the tables that later migrations created."""

from __future__ import annotations

import re
from pathlib import Path

from sqlalchemy import text

from headwater.store.schema import migrations
from headwater.store.store import Store

_MADE = re.compile(r'create_table\(\s*"(\w+)"')


def take_back(store: Store, version: str) -> None:
    """To ``version``, with the content of that version's tables."""
    later = [name for name in migrations.REVISIONS if name > version]
    folder = Path(migrations.__file__).parent / "versions"
    made = [
        table for name in later for file in folder.glob(f"{name}_*.py") for table in _MADE.findall(file.read_text())
    ]
    assert len(made) >= len(later)
    with store._database.write() as conn:
        for table in reversed(made):  # the last one first, because it may refer to the others
            conn.execute(text(f"DROP TABLE {table}"))
        conn.execute(text(f"UPDATE {migrations.VERSION_TABLE} SET version_num = :version"), {"version": version})
