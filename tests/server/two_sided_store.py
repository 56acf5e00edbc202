"""A store with two sides: `open`, and the hidden `vault`. Each name of the vault contains that word."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from headwater.proof.keys import KeyRing
from headwater.store.store import Store

Json = dict[str, Any]
OPEN, VAULT, ABSENT = "open", "vault", "absent"


def run_id(side: str, which: str = "run") -> str:
    return str(uuid5(NAMESPACE_OID, f"{side} {which}"))


def dataset(side: str, name: str, **facets: Json) -> Json:
    return {"namespace": side, "name": f"{side}/{name}", "facets": facets}


def event(
    side: str,
    which: str,
    minute: int,
    inputs: list[Json],
    outputs: list[Json],
    job: str = "job",
    facets: Json | None = None,
) -> Json:
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-11-15T10:{minute:02}:00Z",
        "producer": "urn:test",
        "schemaURL": "urn:test",
        "run": {"runId": run_id(side, which), "facets": {"cdme.runManifest": {}, **(facets or {})}},
        "job": {"namespace": side, "name": f"{side}-{job}", "facets": {"sql": {"query": f"select {inputs}"}}},
        "inputs": inputs,
        "outputs": outputs,
    }


def from_columns(*sources: tuple[str, str]) -> Json:
    """A column `x` that comes from the column `x` of each of these."""
    fields = [{"namespace": side, "name": f"{side}/{name}", "field": "x"} for side, name in sources]
    return {"fields": {"x": {"inputFields": fields}}}


SCHEMA = {"fields": [{"name": "x", "type": "int"}]}
LEDGER = {"balanced": True, "exact": True, "entries": []}


def events(side: str) -> list[Json]:
    """The events of one side alone."""
    return [
        event(
            side, "run", 1, [dataset(side, "a", schema=SCHEMA)],
            [dataset(side, "b", schema=SCHEMA, columnLineage=from_columns((side, "a")))],
            facets={"cdme.accountingLedger": LEDGER},
        ),
        event(side, "again", 2, [dataset(side, "a")], [dataset(side, "b", columnLineage=from_columns((side, "a")))]),
    ]  # fmt: skip


def crossing() -> list[Json]:
    """Events across both sides: an open run that reads both, and a hidden run that writes to the open side."""
    both = from_columns((OPEN, "b"), (VAULT, "b"))
    alias = {"identifiers": [{"namespace": VAULT, "name": "vault/alias", "type": "TABLE"}]}
    parent = {"run": {"runId": run_id(VAULT)}, "job": {"namespace": VAULT, "name": "vault-job"}}
    return [
        event(
            OPEN, "mixed", 3, [dataset(OPEN, "b"), dataset(VAULT, "b")],
            [dataset(OPEN, "c", columnLineage=both, symlinks=alias), dataset(VAULT, "c")], job="mixing",
            facets={"parent": parent},
        ),
        event(VAULT, "reach", 4, [dataset(OPEN, "a")], [dataset(OPEN, "d")], job="reaching"),
        event(OPEN, "onward", 5, [dataset(VAULT, "b")], [dataset(OPEN, "e")], job="mixing"),
    ]  # fmt: skip


def build(url: str, folder: Path, *more: Json) -> None:
    with Store(url) as store:
        for side in (OPEN, VAULT):
            store.ingest_many(events(side))
        store.ingest_many([*crossing(), *more])
        store.checkpoint(key=KeyRing.create(folder / "key.pem"))
