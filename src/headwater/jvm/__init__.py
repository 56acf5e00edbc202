"""Headwater's Java classes, compiled in Spark's JVM by Janino, the compiler that Spark itself brings.

There is no JAR to choose by Spark and Scala version, and nothing to put on a cluster's class path
(docs/decisions/0007). Compiling takes about a second of processor time, so compiled classes are cached in the user's
own cache folder, by the text of the classes and the versions of Spark, Scala and Java; if there is no such folder, they
are compiled every time.

So the sources are written as Janino can read them, for every version of Spark:

- no generics and no lambdas, which Janino does not know: lists are raw and read by index, and an element is cast where
  it is taken;
- one public class a file, in the package `headwater`; a class uses only those before it in the list of its package and
  those of the package above;
- what differs between versions of Spark or Scala is called by name: a method that is not there fails when it is called,
  not when the class is loaded;
- a method that Python calls takes and returns text, numbers, JSON or plans; Python calls it by name, so its name is
  part of the interface.

Trees.java, here, is what they share: Catalyst's trees and Scala's collections as Java lists.
"""

from __future__ import annotations

import json
import logging
import os
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, cast
from weakref import WeakKeyDictionary


class JavaObject(Protocol):
    """An object, class, package or method of Spark's JVM, as py4j hands it over: its members are known to Java alone.

    What a method returns is another such object, a Python value, or None for Java's null; the type is named where the
    answer is taken, as in ``text: str = plan.toJSON()``.
    """

    def __getattr__(self, name: str) -> JavaObject: ...
    def __call__(self, *arguments: object) -> Any: ...
    def __getitem__(self, index: int) -> Any: ...
    def __setitem__(self, index: int, value: object) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...


if TYPE_CHECKING:
    from pyspark import SparkContext

_log = logging.getLogger("headwater")
_lock = Lock()
_loaders: WeakKeyDictionary[JavaObject, dict[str, JavaObject]] = WeakKeyDictionary()
"""Class loaders by gateway and package. Once per JVM: py4j caches methods by the name of their class, and would call
those of the first class on an object of the second."""


def gateway_of(context: SparkContext) -> JavaObject:
    """The gateway to the JVM of a Spark application on this machine."""
    return cast(JavaObject, context._gateway)


class JavaClasses:
    """The classes of one Python package's `.java` files. Each uses only those named before it, and those of the package
    ``above``. ``constants``: texts that the sources contain as string literals, by name: `"@NAME@"`."""

    def __init__(
        self,
        gateway: JavaObject,
        package: str,
        names: tuple[str, ...],
        above: JavaClasses | None = None,
        constants: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._gateway = gateway
        own_texts = {name: _source(package, name, constants) for name in names}
        self._texts = {**(above.texts if above else {}), **own_texts}
        with _lock:
            loaders = _loaders.setdefault(gateway, {})
            if package not in loaders:
                loaders[package] = _loader(gateway, own_texts, above)
            self._loader = loaders[package]

    @property
    def loader(self) -> JavaObject:
        return self._loader

    @property
    def texts(self) -> Mapping[str, str]:
        """Of these classes and of those above."""
        return self._texts

    def new(self, name: str, *arguments: object) -> JavaObject:
        """A new object of a class; each class has one constructor."""
        array = self._gateway.new_array(self._gateway.jvm.java.lang.Object, len(arguments))
        for index, argument in enumerate(arguments):
            array[index] = argument
        made: JavaObject = self._loader.loadClass(f"headwater.{name}").getConstructors()[0].newInstance(array)
        return made


def shared_classes(gateway: JavaObject) -> JavaClasses:
    """The Java classes that those of other packages use."""
    return JavaClasses(gateway, __package__, ("Trees",))


def _source(package: str, name: str, constants: Mapping[str, str]) -> str:
    text = files(package).joinpath(f"{name}.java").read_text(encoding="utf-8")
    for constant, value in constants.items():
        text = text.replace(f'"@{constant}@"', json.dumps(value))  # a string of JSON is one of Java
    return text


def _loader(gateway: JavaObject, texts: Mapping[str, str], parent_classes: JavaClasses | None) -> JavaObject:
    parent_loader: JavaObject = (
        parent_classes.loader
        if parent_classes
        else gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader()
    )
    jar = _cached_jar(gateway, {**(parent_classes.texts if parent_classes else {}), **texts})
    if jar is not None and jar.exists():
        urls = gateway.new_array(gateway.jvm.java.net.URL, 1)
        urls[0] = gateway.jvm.java.io.File(str(jar)).toURI().toURL()
        loader: JavaObject = gateway.jvm.java.net.URLClassLoader(urls, parent_loader)
        try:
            for name in texts:
                loader.loadClass(f"headwater.{name}")
        except Exception as error:
            _log.debug("Compiled classes cannot be read, and are compiled again: %s", error)
        else:
            return loader
    loader, compiled = _compile(gateway, texts, parent_loader)
    if jar is not None:
        try:
            _write_jar(jar, compiled)
        except OSError as error:
            _log.debug("Compiled classes cannot be kept: %s", error)
    return loader


def _compile(
    gateway: JavaObject, texts: Mapping[str, str], parent_loader: JavaObject
) -> tuple[JavaObject, dict[str, bytes]]:
    compiled: dict[str, bytes] = {}
    loader = parent_loader
    for text in texts.values():
        compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(loader)
        compiler.cook(text)
        loader = compiler.getClassLoader()
        compiled.update({str(name): bytes(code) for name, code in compiler.getBytecodes().items()})
    return loader, compiled


def _cached_jar(gateway: JavaObject, texts: Mapping[str, str]) -> Path | None:
    """The file of these classes, compiled; None if other users could change it."""
    spark = gateway.jvm.java.lang.Class.forName("org.apache.spark.package$").getField("MODULE$").get(None)
    java = gateway.jvm.java.lang.System.getProperty("java.version")
    scala = gateway.jvm.scala.util.Properties.versionNumberString()
    parts = [str(spark.SPARK_VERSION()), str(java), str(scala), *(part for item in texts.items() for part in item)]
    name = sha256("\0".join(parts).encode()).hexdigest() + ".jar"
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headwater"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except (OSError, RuntimeError):
        return None
    open_to_others = bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or open_to_others):
        return None
    return folder / name


def _write_jar(jar_path: Path, compiled: Mapping[str, bytes]) -> None:
    """Completely or not at all: two processes may write it at once."""
    handle, unfinished = tempfile.mkstemp(dir=jar_path.parent)
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w") as jar:
            for name, code in compiled.items():
                jar.writestr(f"{name.replace('.', '/')}.class", code)
        os.replace(unfinished, jar_path)
    except BaseException:
        os.unlink(unfinished)
        raise
