"""Databases behind JDBC: their OpenLineage namespace from the URL of the connection, and the names of their tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qs

from headwater.capture.naming.dataset_ref import DatasetRef

_SCHEMES = {"postgresql": "postgres", "sqlserver": "mssql", "mariadb": "mysql"}
_PORTS = {"postgres": 5432, "mysql": 3306, "mssql": 1433, "oracle": 1521, "db2": 50000, "redshift": 5439}
_DEFAULT_SCHEMA = {"postgres": "public", "mssql": "dbo", "redshift": "public", "derby": "APP", "h2": "PUBLIC"}
_WITH_SCHEMAS = ("oracle", "db2")  # whose default one is the user's
_WITHOUT_SERVER = ("sqlite", "derby", "h2", "hsqldb")
_ADDRESS = re.compile(r"jdbc:(?P<scheme>\w+):(?:\w+:(?=//)|thin:|oci:)?@?(?://)?(?P<rest>.*)", re.S)
_PART = re.compile(r'"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|[^.]+')

# How an unquoted name is folded. Other databases keep it: their names are exact, or case does not matter.
_FOLDS: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(("postgres", "redshift"), str.lower),
    **dict.fromkeys(("oracle", "derby", "h2", "hsqldb", "db2", "snowflake"), str.upper),
}


@dataclass(frozen=True, slots=True)
class JdbcDatabase:
    scheme: str
    namespace: str
    name: str | None

    def table(self, table: str, *, format: str = "jdbc") -> DatasetRef:
        """The table under its full name, as far as the omitted parts are known."""
        parts = [self._fold_part(part) for part in _PART.findall(table)]
        schema = _DEFAULT_SCHEMA.get(self.scheme)
        if len(parts) == 1 and schema:
            parts = [schema, *parts]
        if self.name and len(parts) < (3 if schema or self.scheme in _WITH_SCHEMAS else 2):
            parts = [self.name, *parts]
        return DatasetRef(self.namespace, ".".join(parts), "TABLE", uri=self.namespace, format=format)

    def fold(self, name: str) -> str:
        """The name that the database understands for an unquoted name."""
        return _FOLDS.get(self.scheme, str)(name)

    def _fold_part(self, part: str) -> str:
        bare = part.strip()
        return bare[1:-1].replace('""', '"') if bare[:1] in ('"', "`", "[") else self.fold(bare)


def database(url: str) -> JdbcDatabase:
    """The server and database of a JDBC URL. User, password and options are not part of the name."""
    match = _ADDRESS.fullmatch(url)
    if match is None:
        return JdbcDatabase("jdbc", url.split("?", 1)[0].split(";", 1)[0], None)
    scheme = _SCHEMES.get(match["scheme"], match["scheme"])
    rest, _, options = match["rest"].partition("?")
    rest, *properties = rest.split(";")
    if scheme in _WITHOUT_SERVER and "//" not in url:
        return JdbcDatabase(scheme, f"{scheme}:{rest}", None)
    host, _, name = rest.rpartition("@")[2].partition("/")
    if scheme == "oracle" and host.count(":") == 2:  # host:port:sid
        host, name = host.rsplit(":", 1)
    if scheme in _PORTS and host and not re.search(r":\d+$", host):
        host = f"{host}:{_PORTS[scheme]}"
    named = {key.lower(): value for key, _, value in (item.partition("=") for item in properties)}
    name = named.get("databasename") or named.get("database") or name or parse_qs(options).get("database", [""])[0]
    return JdbcDatabase(scheme, f"{scheme}://{host}", name.strip("/") or None)
