"""Stores that are emptied and reused: creating one for each of thousands of examples would take too long."""

from __future__ import annotations

import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import text

from headwater.formats.openlineage.flows import MAX_DIRECT_EDGES
from headwater.store.schema.tables import metadata
from headwater.store.store import Store


class ScratchStore(ABC):
    """Provides one empty store at a time."""

    most_edges = MAX_DIRECT_EDGES
    """Of one run or declaration, before its inputs flow through a hub."""

    @abstractmethod
    def fresh(self) -> Store:
        """An empty store. The previous one is gone."""

    @abstractmethod
    def close(self) -> None: ...


class MemoryLab(ScratchStore):
    """One store, overwritten with an empty one."""

    def __init__(self, most_edges: int = MAX_DIRECT_EDGES) -> None:
        self.most_edges = most_edges
        self._store = Store("memory://", max_direct_edges=most_edges)
        pooled = self._store._database.engine.raw_connection()
        assert isinstance(pooled.driver_connection, sqlite3.Connection)
        self._connection = pooled.driver_connection
        pooled.close()
        self._empty = sqlite3.connect(":memory:")
        self._connection.backup(self._empty)

    def fresh(self) -> Store:
        self._empty.backup(self._connection)
        return self._store

    def close(self) -> None:
        self._empty.close()
        self._store.close()


class FileLab(ScratchStore):
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        Store(f"sqlite:///{folder}/empty.db").close()
        self._store: Store | None = None
        self._made = 0

    def fresh(self) -> Store:
        self.close()
        self._made += 1
        file = self._folder / f"{self._made}.db"
        shutil.copyfile(self._folder / "empty.db", file)
        self._store = Store(f"sqlite:///{file}", create=False)
        return self._store

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            for file in self._folder.glob(f"{self._made}.db*"):
                file.unlink()


class PostgresLab(ScratchStore):
    """One database, emptied by TRUNCATE; the log and its tables cannot be truncated and keep growing, and the secret
    of the store's creation stays."""

    def __init__(self, url: str, drop: Callable[[], None], most_edges: int = MAX_DIRECT_EDGES) -> None:
        self.most_edges = most_edges
        self._store = Store(url, max_direct_edges=most_edges)
        self._drop = drop
        kept = {"audit", "log_tile", "checkpoint", "certificate", "exchange_secret", "graph_limit"}
        emptied = ", ".join(table.name for table in metadata.sorted_tables if table.name not in kept)
        self._truncate = text(f"TRUNCATE {emptied} RESTART IDENTITY")

    def fresh(self) -> Store:
        with self._store._database.write() as conn:
            conn.execute(self._truncate)
        return self._store

    def close(self) -> None:
        self._store.close()
        self._drop()
