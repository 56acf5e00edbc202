"""Audit and administration: `verify`, `db upgrade` and `db max-direct-edges`."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from tests.cli.running import Run
from tests.cli.stores import FIVE, store_with


def test_verify_names_the_first_failure(run: Run, tmp_path: Path) -> None:
    url = store_with(tmp_path, FIVE)
    assert run("verify", "--store", url).out.startswith("The audit log holds: 5 entries.\nLast hash: ")
    with sqlite3.connect(tmp_path / "store.db") as database:
        triggers = database.execute("select name from sqlite_master where type = 'trigger' and tbl_name = 'audit'")
        for (name,) in triggers.fetchall():
            database.execute(f"drop trigger {name}")
        database.execute("update audit set actor_id = 'somebody else' where seq = 3")
    database.close()
    result = run("verify", "--store", url)
    assert (result.code, result.out) == (1, "")
    assert result.err == "Error: The audit log does not hold at entry 3: its content does not match its hash\n"
    result = run("verify", "--store", url, "--json")
    assert result.code == 1
    assert result.json == {"holds": False, "entry": 3, "reason": "its content does not match its hash"}


def test_db_upgrade(run: Run, tmp_path: Path) -> None:
    from headwater.store.schema.migrations import HEAD

    url = store_with(tmp_path, FIVE)
    assert run("db", "upgrade", "--store", url).out.endswith(f"is already at version {HEAD}.\n")
    answer = run("db", "upgrade", "--store", url, "--json").json
    assert (answer["before"], answer["after"]) == (HEAD, HEAD)
    (tmp_path / "empty.db").touch()
    made = run("db", "upgrade", "--store", "sqlite:///empty.db")
    assert made.out.endswith(f", at version {HEAD}.\n")
    assert run("datasets", "--store", "sqlite:///empty.db", "--json").out == "[]\n"


def test_db_max_direct_edges(run: Run, tmp_path: Path) -> None:
    url = store_with(tmp_path, FIVE)
    answer = run("db", "max-direct-edges", "0", "--store", url)
    assert re.fullmatch(r"The maximum number of direct edges is 0, 10,000 before\. Runs rebuilt: \d\.\n", answer.out)
    assert run("db", "max-direct-edges", "0", "--store", url, "--json").json["before"] == 0
    assert run("verify", "--store", url).code == 0
    assert run("audit", "--event-type", "store.limited", "--store", url, "--json").json[0]["details"]["before"] == 0
    assert run("db", "max-direct-edges", "-1", "--store", url).code == 2
