"""What was done with a store that leaves no other trace in it: written into the audit log, and nowhere else."""

from __future__ import annotations

from headwater.model.audit import Actor
from headwater.proof.canonical import canonical
from headwater.store.engine.database import Database
from headwater.store.engine.prepared import together
from headwater.store.log import audit
from headwater.store.log.audit import Deed
from headwater.store.log.log_head import STANDING, Standing


def deed(event_type: str, resource_type: str, resource_id: str | None, **details: object) -> Deed:
    """The action is the last word of the type: `task.started` is of the action `started`."""
    told = {name: value for name, value in details.items() if value is not None}
    return Deed(event_type, event_type.rpartition(".")[2], resource_type, resource_id, canonical(told))


class Deeds:
    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, *deeds: tuple[Actor, Deed]) -> None:
        """When this returns, it is on disk."""
        with self._database.write() as conn:
            ((told,),) = together(conn, [(STANDING, {})])
            audit.record(conn, Standing.told(told), deeds)
