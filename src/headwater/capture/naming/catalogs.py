"""Tables of a catalog: named by their location, with the table's own name as a symlink.

Two catalogs may know one folder by two names, and a job may read the folder itself: the location is what they share. A
view, or a table whose location is unknown, has its name in the catalog.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote, urlsplit

from headwater.capture.naming.dataset_ref import Catalog, DatasetRef
from headwater.capture.naming.paths import location_name
from headwater.jvm import JavaObject

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SESSION_CATALOG = "spark_catalog"


@dataclass(frozen=True)
class Catalogs:
    """The catalogs in the session's configuration."""

    warehouse: str
    metastore: str | None
    conf: Mapping[str, str]
    """`spark.sql.catalog.*`, without the prefix."""

    def dataset(
        self,
        parts: Sequence[str],
        *,
        catalog: str | None = None,
        location: str | None = None,
        provider: str | None = None,
        kind: str = "TABLE",
        version: str | None = None,
        partitions: tuple[Mapping[str, str], ...] = (),
    ) -> DatasetRef:
        """``parts`` are the table's name in its catalog: database and table."""
        catalog_ref = self._catalog(catalog or SESSION_CATALOG, provider)
        table_key = self._namespace(catalog_ref), ".".join(parts)
        if location is None:
            return DatasetRef(*table_key, kind, uri=table_key[0], catalog=catalog_ref, format=provider, version=version)
        uri = unquote(location)
        return DatasetRef(
            *location_name(uri),
            kind,
            uri=uri,
            symlink=table_key,
            format=provider,
            catalog=catalog_ref,
            version=version,
            partitions=partitions,
        )

    def _catalog(self, name: str, provider: str | None) -> Catalog:
        if name == SESSION_CATALOG:
            framework = provider if provider in ("delta", "iceberg", "hudi") else "hive" if self.metastore else "spark"
            kind = "hive" if self.metastore else "in-memory"
            return Catalog(name, framework, kind, self.metastore, self.warehouse)
        conf = {key.removeprefix(f"{name}."): value for key, value in self.conf.items() if key.startswith(f"{name}.")}
        implementation = self.conf.get(name, "").rsplit(".", 1)[-1]
        framework = provider or next((f for f in ("iceberg", "delta", "hudi") if f in self.conf.get(name, "")), "spark")
        return Catalog(
            name, framework, conf.get("type") or implementation or "unknown", conf.get("uri"), conf.get("warehouse")
        )

    @staticmethod
    def _namespace(catalog: Catalog) -> str:
        if catalog.metadata_uri:
            parts = urlsplit(catalog.metadata_uri)
            return f"hive://{parts.netloc}" if parts.scheme == "thrift" else catalog.metadata_uri
        if catalog.warehouse_uri:
            namespace, name = location_name(unquote(catalog.warehouse_uri))
            return f"file:{name}" if namespace == "file" else f"{namespace}/{name.strip('/')}"
        return f"catalog:{catalog.name}"


def catalogs_of(spark: SparkSession, conf: Mapping[str, str]) -> Catalogs:
    """``conf`` is the application's configuration."""
    context = cast(JavaObject, spark.sparkContext._jsc)
    metastore = conf.get("spark.hadoop.hive.metastore.uris") or context.hadoopConfiguration().get("hive.metastore.uris")
    prefix = "spark.sql.catalog."
    return Catalogs(
        str(spark.conf.get("spark.sql.warehouse.dir")),
        metastore.split(",")[0] if metastore else None,
        {key.removeprefix(prefix): value for key, value in conf.items() if key.startswith(prefix)},
    )
