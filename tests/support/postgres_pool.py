"""Databases with an empty store, for tests: emptied and reused instead of created, which takes ten times as long.

A database whose structure a test has changed, for example by disabling a trigger, is dropped instead. Databases are
emptied over a connection that stays open: a new one would read the catalog again, which costs more than the
emptying.
"""

from __future__ import annotations

import itertools

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from headwater.store.store import Store
from tests.support.postgres import PostgresServer

TEMPLATE = "headwater_template"
FILLED = ("exchange_secret", "headwater_version")  # in a new store already; a store never changes them

# All that a test could change of a store's structure, and the rows that every store has from its beginning.
FINGERPRINT = """
SELECT md5(concat_ws('|',
  (SELECT string_agg(concat(c.oid::regclass, a.attname, a.atttypid, a.attnotnull, a.attisdropped), ',' ORDER BY c.relname, a.attnum)
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0),
  (SELECT string_agg(concat(t.tgrelid::regclass, t.tgname, t.tgenabled), ',' ORDER BY t.tgrelid::regclass::text, t.tgname)
     FROM pg_trigger t WHERE NOT t.tgisinternal),
  (SELECT string_agg(concat(p.proname, md5(p.prosrc)), ',' ORDER BY p.proname)
     FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace),
  (SELECT string_agg(n.nspname, ',' ORDER BY n.nspname) FROM pg_namespace n WHERE n.nspname !~ '^pg_'),
  (SELECT string_agg(s.setconfig::text, ',') FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
    WHERE d.datname = current_database()),
  (SELECT string_agg(s::text, ',') FROM exchange_secret s),
  (SELECT string_agg(v::text, ',') FROM headwater_version v)))
"""  # noqa: E501
TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
WITHOUT_VACUUM = "ALTER TABLE {} SET (autovacuum_enabled = false)"
"""It would come at any moment, and give the room of deleted rows to new ones."""
WRITTEN_TABLES = """
SELECT c.relname, pg_table_size(c.oid) FROM pg_class c
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND pg_relation_size(c.oid) > 0
  AND c.relname <> ALL(%s)
"""
SMALL = 512 * 1024
"""Up to so many bytes rows are deleted, which takes a twentieth of the time that new files for TRUNCATE take."""
RESTART_IDENTITIES = "SELECT setval(seqrelid::regclass, seqstart, false) FROM pg_sequence"
OTHER_CONNECTIONS = """
SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


class PostgresPool:
    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self._numbers = itertools.count(1)
        self._idle: list[str] = []
        self._connections: dict[str, psycopg.Connection[TupleRow]] = {}
        server.create_database(TEMPLATE)
        Store(server.plain_url(TEMPLATE)).close()
        with psycopg.connect(server.plain_url(TEMPLATE), autocommit=True) as connection:
            for (table,) in connection.execute(TABLES).fetchall():
                connection.execute(sql.SQL(WITHOUT_VACUUM).format(sql.Identifier(table)))
            self._fingerprint = connection.execute(FINGERPRINT).fetchone()

    def lend(self) -> str:
        """The name of a database with an empty store."""
        return self._idle.pop() if self._idle else self.create(TEMPLATE)

    def create(self, template: str) -> str:
        name = f"test_{next(self._numbers)}"
        with psycopg.connect(self.server.plain_url("postgres"), autocommit=True) as connection:
            names = [sql.Identifier(name), sql.Identifier(template)]
            connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*names))
        return name

    def take_back(self, name: str) -> None:
        try:
            reusable = self._empty(name)
        except psycopg.Error:
            reusable = False
        if reusable:
            self._idle.append(name)
        else:
            self._disconnect(name)
            self.server.drop_database(name)

    def _empty(self, name: str) -> bool:
        connection = self._connection(name)
        connection.execute(OTHER_CONNECTIONS)
        if connection.execute(FINGERPRINT, prepare=True).fetchone() != self._fingerprint:
            return False
        written: dict[str, int] = dict(connection.execute(WRITTEN_TABLES, [list(FILLED)], prepare=True).fetchall())
        tables = [sql.Identifier(table) for table in written]
        if sum(written.values()) > SMALL:
            connection.execute(sql.SQL("TRUNCATE {} CASCADE").format(sql.SQL(", ").join(tables)))
        elif written:
            connection.execute(sql.SQL("; ").join(sql.SQL("DELETE FROM {}").format(table) for table in tables))
        connection.execute(RESTART_IDENTITIES, prepare=True)
        return True

    def _connection(self, name: str) -> psycopg.Connection[TupleRow]:
        if name not in self._connections:
            connection = psycopg.connect(self.server.plain_url(name), autocommit=True)
            connection.execute("SET session_replication_role = replica")  # the log's triggers refuse to empty it
            self._connections[name] = connection
        return self._connections[name]

    def _disconnect(self, name: str) -> None:
        if name in self._connections:
            self._connections.pop(name).close()

    def close(self) -> None:
        for name in list(self._connections):
            self._disconnect(name)
