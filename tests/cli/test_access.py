"""`headwater access`: the keys of the HTTP server."""

from __future__ import annotations

import headwater as hw
from tests.cli.running import Run

URL = "sqlite:///store.db"


def test_the_life_of_a_key(run: Run) -> None:
    made = run("access", "add", "page", "-s", "read", "-s", "write", "-n", "team*", "--store", URL)
    assert made.code == 0
    secret, may, note = made.out.splitlines()
    with hw.connect(URL) as store:
        key = store.access.check(secret)
    assert key is not None
    assert may == f"Key {key.key_id} (page) may read, write in team*."
    assert note.startswith("The key is shown only once.")
    listed = run("access", "list", "--store", URL)
    assert f"{key.key_id}  page  read, write  team*       active" in listed.out
    assert secret not in listed.out
    assert run("access", "revoke", "page", "--store", URL).out == f"Key {key.key_id} (page) is revoked.\n"
    assert "revoked" in run("access", "list", "--store", URL).out
    with hw.connect(URL) as store:
        assert store.access.check(secret) is None


def test_as_json(run: Run) -> None:
    made = run("access", "add", "page", "--expires", "2999-01-01", "--store", URL, "--json").json
    assert made["secret"].startswith(f"hw_{made['key']['key_id']}_")
    assert made["key"]["scopes"] == ["read"]
    assert made["key"]["namespaces"] == ["*"]
    assert made["key"]["expires_at"] == "2999-01-01T00:00:00Z"
    assert run("access", "list", "--store", URL, "--json").json == [made["key"]]
    assert run("access", "revoke", made["key"]["key_id"], "--store", URL, "--json").json["revoked_at"] is not None


def test_revoking_the_last_admin_key_warns(run: Run) -> None:
    run("access", "add", "boss", "-s", "admin", "--store", URL)
    run("access", "add", "second", "-s", "admin", "--store", URL)
    assert run("access", "revoke", "second", "--store", URL).err == ""
    last = run("access", "revoke", "boss", "--store", URL)
    assert (last.code, "(boss) is revoked." in last.out) == (0, True)
    assert last.err.startswith("Warning: no remaining key can manage keys over HTTP.")


def test_mistakes(run: Run) -> None:
    assert "'root' is not a scope" in run("access", "add", "x", "-s", "root", "--store", URL).err
    assert run("access", "list", "--store", URL).out == "The store has no access keys. Local clients need none.\n"
    unknown = run("access", "revoke", "x", "--store", URL)
    assert (unknown.code, unknown.err) == (
        1,
        "Error: Access key 'x' is not known. The store has none yet: `headwater access add` creates one.\n",
    )
    assert run("access", "list", "--store", "sqlite:///nowhere.db").code == 1
