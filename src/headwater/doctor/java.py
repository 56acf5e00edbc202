"""Checks the Java that Spark starts: that of JAVA_HOME if it is set, otherwise the one on PATH."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from headwater.doctor import spark
from headwater.doctor.findings import DoctorOptions, Finding, failed, ok, warning

SUPPORTED_JAVA = (17, 21)
SUPPORTED_JAVA_FOR_35 = (17,)
"""The Arrow of Spark 3.5 does not work on Java 21."""
_TIMEOUT = 30.0


def java(options: DoctorOptions) -> Iterator[Finding]:
    version = spark.installed()
    supported = SUPPORTED_JAVA_FOR_35 if version and version.startswith("3.5.") else SUPPORTED_JAVA
    wanted = " or ".join(map(str, supported)) + (f" for Spark {version}" if version else "")
    remedy = f"Install Java {wanted} and set JAVA_HOME to it."
    program, origin = _find_java()
    # Without pyspark nothing starts Java.
    absent = failed if version is not None else warning
    if program is None:
        yield absent("Java", origin, remedy)
        return
    try:
        major, version_text = _read_version(program)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or "it does not report its version"
        yield absent("Java", f"{program} ({origin}): {reason}", remedy)
        return
    result = f"{version_text} at {program} ({origin})"
    if major in supported:
        yield ok("Java", result)
    elif major < min(supported):
        yield failed("Java", result, remedy)
    else:
        yield warning("Java", result, remedy)


def _find_java() -> tuple[str | None, str]:
    """Return its path and the variable that names it, or None and why it was not found."""
    home = os.environ.get("JAVA_HOME")
    if home:
        program = shutil.which("java", path=str(Path(home) / "bin"))
        return (program, "JAVA_HOME") if program else (None, f"JAVA_HOME is {home}, and there is no bin/java")
    program = shutil.which("java")
    return (program, "PATH") if program else (None, "not found: JAVA_HOME is not set, and PATH has none")


def _read_version(program: str) -> tuple[int, str]:
    """Return its major version and its full version."""
    answer = subprocess.run(
        [program, "-XshowSettings:properties", "-version"],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_TIMEOUT,
        check=True,
    )
    properties = answer.stderr + answer.stdout
    major = re.search(r"^ *java\.specification\.version = (?:1\.)?(\d+)", properties, re.MULTILINE)
    if major is None:
        raise ValueError(properties)
    whole = re.search(r"^ *java\.version = (\S+)", properties, re.MULTILINE)
    return int(major[1]), whole[1] if whole else major[1]
