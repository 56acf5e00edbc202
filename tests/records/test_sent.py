"""The audit log records who sent records: one entry per call, however many records there are."""

from __future__ import annotations

import json
from hashlib import sha256

from headwater.client import Lineage
from headwater.model.audit import Actor
from headwater.records.intake.sending import SENT_KIND
from headwater.server.routes.records import _send
from tests.records.conftest import load_all
from tests.records.test_queue import request


def test_one_entry_per_call(lineage: Lineage) -> None:
    records = lineage.records
    sent = [request(f"n{number}") for number in range(250)]
    records.send([*sent, {"root_id": "r"}])
    records.send({"root_id": "r"})  # nothing was taken, and nothing happened
    records.at("/elsewhere").send(sent[0], actor=Actor("pipeline", "key", correlation_id="c-1"))
    last, first = lineage.audit(event_type=SENT_KIND)
    assert (first.action, first.resource_type) == ("send", "records")
    assert (first.details["taken"], first.details["refused"]) == ("250", "1")
    assert (last.actor_id, last.actor_type, last.correlation_id) == ("pipeline", "key", "c-1")
    load_all(records)
    digests = {one.record.node_id: one.record.digest for one in records.find(limit=1_000)}
    told = sha256(b"".join(digests[one["node_id"]] for one in sent)).hexdigest()
    assert first.details["digest"] == f"sha256:{told}"
    assert first.actor_id == lineage._actor.id
    assert lineage.verify().entries == 3  # with the one about the load


def test_the_server_records_the_key(lineage: Lineage) -> None:
    _send(lineage.records, json.dumps(request("n")).encode(), Actor("key-7", "key"))
    (entry,) = lineage.audit(event_type=SENT_KIND)
    assert (entry.actor_id, entry.details["taken"]) == ("key-7", "1")
