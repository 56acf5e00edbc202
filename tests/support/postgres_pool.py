"""Databases with an empty store, for tests: emptied and lent again instead of made anew, which takes ten times as long.

A database whose structure a test has changed, a trigger it switched off for one, is dropped instead.
"""

from __future__ import annotations

import itertools

import psycopg
from psycopg import sql

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
WRITTEN_TABLES = """
SELECT c.relname FROM pg_class c
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND pg_relation_size(c.oid) > 0
  AND c.relname <> ALL(%s)
"""
OTHER_CONNECTIONS = """
SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


class PostgresPool:
    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self._numbers = itertools.count(1)
        self._idle: list[str] = []
        server.create_database(TEMPLATE)
        Store(server.plain_url(TEMPLATE)).close()
        with psycopg.connect(server.plain_url(TEMPLATE), autocommit=True) as connection:
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
            self.server.drop_database(name)

    def _empty(self, name: str) -> bool:
        with psycopg.connect(self.server.plain_url(name), autocommit=True) as connection:
            connection.execute(OTHER_CONNECTIONS)
            if connection.execute(FINGERPRINT).fetchone() != self._fingerprint:
                return False
            written = [row[0] for row in connection.execute(WRITTEN_TABLES, [list(FILLED)])]
            if written:
                connection.execute("SET session_replication_role = replica")  # the log's triggers refuse TRUNCATE
                tables = sql.SQL(", ").join(map(sql.Identifier, written))
                connection.execute(sql.SQL("TRUNCATE {} RESTART IDENTITY CASCADE").format(tables))
        return True
