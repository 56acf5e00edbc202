"""Checks the optional packages."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from headwater.doctor.findings import DoctorOptions, Finding, failed, ok, warning

SERVER_PACKAGES = ("fastapi", "uvicorn", "prometheus_client")


def parts(options: DoctorOptions) -> Iterator[Finding]:
    missing = [name for name in SERVER_PACKAGES if find_spec(name) is None]
    if missing:
        yield warning("server", f"{', '.join(missing)} not installed", "To serve: pip install 'headwater[server]'")
    else:
        yield ok("server", f"fastapi {_version('fastapi')}")
    if find_spec("duckdb") is None:
        yield failed("duckdb", "not installed", "To query pair tables and records: pip install duckdb")
    else:
        yield ok("duckdb", _version("duckdb"))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # importable, but not installed as a package
        return "version unknown"
