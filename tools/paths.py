"""Where everything is: the repository, its lock files, and the web page."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = ROOT / "pyproject.toml"

BUILD_LOCK = ROOT / "requirements-build.lock"
MAIN_LOCK = ROOT / "requirements.lock"
POSTGRES_LOCK = ROOT / "requirements-postgres.lock"
JAVA_LOCK = ROOT / "requirements-java.lock"
JAVA17_LOCK = ROOT / "requirements-java17.lock"
PAGE_LOCK = ROOT / "requirements-page.lock"
SPARK35_LOCK = ROOT / "requirements-spark35.lock"
SPARK41_LOCK = ROOT / "requirements-spark41.lock"
BENCH_LOCK = ROOT / "requirements-bench.lock"
DBT_LOCK = ROOT / "requirements-dbt.lock"

PAGE_SOURCE = ROOT / "ui"
PAGE_BUILT = ROOT / "src" / "headwater" / "server" / "page"
