"""Small Java classes of ours, compiled in Spark's JVM by the compiler that Spark itself brings.

No JAR to choose by Spark and Scala version, nothing to put on a cluster's class path (docs/decisions/0007). To compile
takes about a second of processor time, so what was compiled is kept in the user's own cache, by the text of the classes
and the versions of Spark, Scala and Java; where that cannot be, they are compiled every time.
"""

from __future__ import annotations

import logging
import os
import stat
import tempfile
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

_log = logging.getLogger("headwater")
_lock = Lock()
_loaded: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()
"""Class loaders by gateway and package. Once a JVM: py4j remembers methods by the name of their class, and would call
those of the first on an object of the second."""


class JavaClasses:
    """The classes of one Python package's `.java` files, each of which uses only those named before it, and those of
    the package ``above``."""

    def __init__(self, gateway: Any, package: str, names: tuple[str, ...], above: JavaClasses | None = None) -> None:
        self._gateway = gateway
        self._texts = {name: files(package).joinpath(f"{name}.java").read_text(encoding="utf-8") for name in names}
        with _lock:
            loaders = _loaded.setdefault(gateway, {})
            if package not in loaders:
                loaders[package] = _loader(gateway, self._texts, above)
            self._loader = loaders[package]

    @property
    def loader(self) -> Any:
        return self._loader

    @property
    def texts(self) -> Mapping[str, str]:
        return self._texts

    def new(self, name: str, *arguments: object) -> Any:
        """Our classes have one constructor each."""
        given = self._gateway.new_array(self._gateway.jvm.java.lang.Object, len(arguments))
        for place, argument in enumerate(arguments):
            given[place] = argument
        return self._loader.loadClass(f"headwater.{name}").getConstructors()[0].newInstance(given)


def _loader(gateway: Any, texts: Mapping[str, str], given: JavaClasses | None) -> Any:
    above = given.loader if given else gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader()
    kept = _place(gateway, {**(given.texts if given else {}), **texts})
    if kept is not None and kept.exists():
        urls = gateway.new_array(gateway.jvm.java.net.URL, 1)
        urls[0] = gateway.jvm.java.io.File(str(kept)).toURI().toURL()
        loader = gateway.jvm.java.net.URLClassLoader(urls, above)
        try:
            for name in texts:
                loader.loadClass(f"headwater.{name}")
        except Exception as damaged:
            _log.debug("Compiled classes cannot be read, and are compiled again: %s", damaged)
        else:
            return loader
    loader, compiled = _compile(gateway, texts, above)
    if kept is not None:
        try:
            _keep(kept, compiled)
        except OSError as trouble:
            _log.debug("Compiled classes cannot be kept: %s", trouble)
    return loader


def _compile(gateway: Any, texts: Mapping[str, str], above: Any) -> tuple[Any, dict[str, bytes]]:
    compiled: dict[str, bytes] = {}
    loader = above
    for text in texts.values():
        compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(loader)
        compiler.cook(text)
        loader = compiler.getClassLoader()
        compiled.update({str(name): bytes(code) for name, code in compiler.getBytecodes().items()})
    return loader, compiled


def _place(gateway: Any, texts: Mapping[str, str]) -> Path | None:
    """Where these classes are kept, compiled; None where nobody but this user could be kept from changing them."""
    spark = gateway.jvm.java.lang.Class.forName("org.apache.spark.package$").getField("MODULE$").get(None)
    java = gateway.jvm.java.lang.System.getProperty("java.version")
    scala = gateway.jvm.scala.util.Properties.versionNumberString()
    told = [str(spark.SPARK_VERSION()), str(java), str(scala), *(part for item in texts.items() for part in item)]
    name = sha256("\0".join(told).encode()).hexdigest() + ".jar"
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headwater"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except (OSError, RuntimeError):
        return None
    open_to_others = bool(found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or open_to_others):
        return None
    return folder / name


def _keep(place: Path, compiled: Mapping[str, bytes]) -> None:
    """All of it or nothing: two processes may do so at once."""
    handle, unfinished = tempfile.mkstemp(dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w") as jar:
            for name, code in compiled.items():
                jar.writestr(f"{name.replace('.', '/')}.class", code)
        os.replace(unfinished, place)
    except BaseException:
        os.unlink(unfinished)
        raise
