"""PostgreSQL and dbt, which only tests need."""

from __future__ import annotations

from tools.console import step
from tools.paths import POSTGRES_LOCK
from tools.pip import install_optional
from tools.stamps import Stamp, packages_digest, read_stamp, write_stamp
from tools.venv_creation import make_venv
from tools.venvs import DBT, Venv


def install_postgres(venv: Venv, stamp: Stamp) -> None:
    if stamp.get("postgres") or "postgres" in stamp["missing"]:
        return
    with step(f"installing PostgreSQL into {venv.name}, for the tests"):
        reason = install_optional(venv, POSTGRES_LOCK)
    stamp["postgres"] = reason is None
    if reason is not None:
        stamp["missing"]["postgres"] = reason


def install_dbt(stamp: Stamp) -> None:
    """Into a venv of its own, for the one test that has dbt-ol tell of a run. Its stamp is filled last."""
    digest = packages_digest(DBT)
    if "dbt" in stamp["missing"] or read_stamp(DBT).get("packages") == digest:
        return
    make_venv(DBT)
    with step(f"installing dbt into {DBT.name}, for the tests"):
        reason = install_optional(DBT, DBT.lock)
    if reason is None:
        write_stamp(DBT, {"packages": digest})
    else:
        stamp["missing"]["dbt"] = reason
