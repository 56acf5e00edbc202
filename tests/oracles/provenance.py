"""The provenance of a dataset: a loop over all runs and all events, by the rules of docs/provenance.md."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from tests.oracles.event_facts import EventFacts, Json, Name, deleted, latest_statements
from tests.oracles.model import Model, RunAccount

CHANGES = {"CREATE": "created", "DROP": "deleted", "ALTER": "modified", "RENAME": "modified", "TRUNCATE": "modified"}
FACET = "headwater_provenance"
LIFECYCLE = "lifecycleStateChange"


@dataclass(frozen=True)
class Action:
    at: int
    key: str
    """What orders deeds of one moment."""
    rank: int
    """Of one run: it wrote after it had read."""
    event: str
    run_id: str | None
    operation: str | None
    method: str | None
    agent: str | None
    purpose: str | None

    @property
    def order(self) -> tuple[int, str, int]:
        return -self.at, self.key, self.rank


def actions(model: Model, asked: Name) -> list[Action]:
    """Newest first."""
    runs = [run for run in model.runs.values() if run.state == "COMPLETE" and _written(model, run, asked)]
    stated = [deed for said in model.events if (deed := _stated(model, said, asked)) is not None]
    told_writes = [deed.at for deed in stated if deed.event != "accessed"]
    first = min(runs, key=lambda run: (_at(run), _negated(_key(run.run_id))), default=None)
    if first is not None and any(at <= _at(first) for at in told_writes):
        first = None
    found = stated + [_write(model, run, asked, first) for run in runs]
    found += [_read(model, run) for run in model.runs.values() if any(model.resolve(n) == asked for n in run.inputs)]
    return sorted(found, key=lambda deed: deed.order)


def _at(run: RunAccount) -> int:
    return run.last_event_at if run.ended_at is None else run.ended_at


def _key(run_id: str) -> str:
    return sha256(run_id.encode()).hexdigest()


def _negated(key: str) -> int:
    return -int(key, 16)


def _written(model: Model, run: RunAccount, asked: Name) -> list[Name]:
    return [name for name in sorted(run.outputs) if model.resolve(name) == asked]


def _read(model: Model, run: RunAccount) -> Action:
    return _action(model, run, 1, "accessed", "read", None)


def _write(model: Model, run: RunAccount, asked: Name, first: RunAccount | None) -> Action:
    said = [_change(run.outputs[name].facets) for name in _written(model, run, asked)]
    change = next((one for one in reversed(said) if one is not None), None)
    event = CHANGES.get(change or "", "created" if run is first else "modified")
    operation = "transform" if run.inputs and event != "deleted" else "write"
    return _action(model, run, 0, event, operation, change)


def _action(model: Model, run: RunAccount, rank: int, event: str, operation: str, change: str | None) -> Action:
    facet = latest_statements(
        said.run_facets for said in model.events if said.kind == "run" and said.run_id == run.run_id
    )
    own: Any = facet.get(FACET, {})
    agent = own.get("agent", {"id": f"{run.job[1]}/{run.job[2]}"})["id"]
    purpose = own.get("context", {}).get("purpose")
    return Action(_at(run), _key(run.run_id), rank, event, run.run_id, operation, change, agent, purpose)


def _stated(model: Model, said: EventFacts, asked: Name) -> Action | None:
    if said.dataset is None or model.resolve(said.dataset.name) != asked:
        return None
    facets = said.dataset.facets
    own, change = facets.get(FACET, {}), _change(facets)
    if own and not deleted(own):
        operation, purpose = own.get("operation", {}), own.get("context", {}).get("purpose")
        words = (operation.get("type"), operation.get("method"), own.get("agent", {}).get("id"), purpose)
        return Action(said.time, said.digest, 2, own["event_type"], None, *words)
    if change is None:
        return None
    producer = said.body["producer"]
    return Action(said.time, said.digest, 2, CHANGES.get(change, "modified"), None, "write", change, producer, None)


def _change(facets: Json) -> str | None:
    facet = facets.get(LIFECYCLE, {})
    return None if deleted(facet) else facet.get(LIFECYCLE)
