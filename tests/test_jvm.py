"""Headwater's Java classes: compiled once, cached for the next session, and recompiled if the cache is unusable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater import jvm
from headwater.jvm import gateway_of
from tests.support.spark import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROBE = {
    "Probe": """package headwater;
    public final class Probe {
      static class Inner { String word = "kept"; }
      public String toString() { return new Inner().word; }
    }"""
}


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with spark_session() as session:
        yield session


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "headwater"


def loaded_class(spark: SparkSession) -> tuple[str, str]:
    """The result of the class, and the class loader that loaded it."""
    gateway = gateway_of(spark.sparkContext)
    loader = jvm._loader(gateway, PROBE, None)
    nothing = gateway.new_array(gateway.jvm.java.lang.Object, 0)
    probe = loader.loadClass("headwater.Probe").getConstructors()[0].newInstance(nothing)
    # Not by a method of the object: py4j would call that of the class it has seen first under this name.
    return str(gateway.jvm.java.util.Objects.toString(probe)), str(loader.getClass().getSimpleName())


def test_compiled_classes_are_loaded_the_next_time(spark: SparkSession, cache: Path) -> None:
    assert loaded_class(spark) == ("kept", "ByteArrayClassLoader")
    assert loaded_class(spark) == ("kept", "URLClassLoader")
    (jar,) = cache.iterdir()
    assert jar.stat().st_mode & 0o077 == 0


def test_a_damaged_file_is_replaced(spark: SparkSession, cache: Path) -> None:
    loaded_class(spark)
    (jar,) = cache.iterdir()
    jar.write_bytes(b"not a jar")
    assert loaded_class(spark)[0] == "kept"
    assert jar.read_bytes() != b"not a jar"


def test_a_folder_that_others_may_write_to_is_not_trusted(spark: SparkSession, cache: Path) -> None:
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    loaded_class(spark)
    assert list(cache.iterdir()) == []


def test_without_a_cache_folder_it_compiles_every_time(
    spark: SparkSession, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert loaded_class(spark)[0] == "kept"
