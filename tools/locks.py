"""The lock files, and what each is compiled from."""

from __future__ import annotations

from pathlib import Path

from tools.paths import (
    BENCH_LOCK,
    BUILD_LOCK,
    DBT_LOCK,
    JAVA17_LOCK,
    JAVA_LOCK,
    MAIN_LOCK,
    PAGE_LOCK,
    POSTGRES_LOCK,
    SPARK35_LOCK,
    SPARK41_LOCK,
)

# What `uv pip compile` is asked for, in this order: the build tools follow the versions of the main lock.
LOCK_RECIPES: dict[Path, list[str]] = {
    MAIN_LOCK: ["pyproject.toml", "--extra", "server", "--group", "dev"],
    BUILD_LOCK: ["--group", "build", "--constraint", MAIN_LOCK.name],
    POSTGRES_LOCK: ["--group", "postgres", "--no-deps"],  # we run its binaries, never its Python code
    JAVA_LOCK: ["--group", "java"],
    JAVA17_LOCK: ["--group", "java17"],
    PAGE_LOCK: ["--group", "page", "--constraint", MAIN_LOCK.name],
    SPARK35_LOCK: ["pyproject.toml", "--extra", "server", "--group", "spark35"],
    SPARK41_LOCK: ["pyproject.toml", "--extra", "server", "--group", "spark41"],
    BENCH_LOCK: ["--group", "bench"],
    # What would have to be built is not had, and is said so; pip wants extras named where others ask for them.
    DBT_LOCK: ["--group", "dbt", "--only-binary", ":all:", "--no-strip-extras"],
}
