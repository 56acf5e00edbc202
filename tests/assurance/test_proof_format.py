"""docs/proof-format.md is correct: its functions, run unchanged, give the same results as Headwater's."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.assurance.bundle import verify_bundle
from headwater.formats.openlineage.event import read_event
from headwater.model.plain import plain
from headwater.proof.bundle import EvidenceBundle
from headwater.proof.merkle import leaf_hash, root_of, verify_consistency, verify_inclusion
from headwater.proof.tiles import Tiles
from headwater.store.store import Store
from tests.assurance.proof_example import EXAMPLE, RUN, fill, recipe, values
from tests.support.events import run_event

Json = dict[str, Any]


def ed25519_verify(public: bytes, signature: bytes, data: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except InvalidSignature:
        return False
    return True


@pytest.fixture(scope="module")
def recipes() -> Json:
    return recipe()


@pytest.fixture(scope="module")
def example() -> Json:
    found: Json = json.loads(EXAMPLE.read_text())
    return found


def test_the_functions_of_the_page_verify_a_bundle(recipes: Json, tmp_path: Path) -> None:
    with Store("memory://") as store:
        content = fill(store, tmp_path)
        bundle = json.loads(content)
        found = recipes["verify"](bundle, ed25519_verify)
        assert found == {one.certificate_id: one.hash for one in store.certificates(run_id=RUN)}
        assert len(found) == 1
        hashes = {entry.seq: entry.hash for entry in store.audit()}
        told = values(bundle)
        assert all(entry["hash"] == hashes[entry["seq"]] for entry in told["entries"])
        assert {entry["seq"] for entry in told["entries"]} <= hashes.keys()
        newest = store.checkpoints(limit=1)[0]
        assert (newest.root, newest.size) == (told["checkpoint"]["root"], told["checkpoint"]["size"])
    ours = EvidenceBundle.read(content)
    assert [each.hash.hex() for each in ours.entries] == [
        entry["hash"] for entry in told["entries"][: len(ours.entries)]
    ]


def test_the_example_is_up_to_date(recipes: Json, example: Json) -> None:
    assert recipes["verify"](example["bundle"], ed25519_verify) == example["values"]["certificates"]
    assert values(example["bundle"]) == example["values"]
    verified = verify_bundle(rfc8785.dumps(example["bundle"]), key=example["values"]["key"]["vkey"])
    assert verified.certificates == tuple(example["values"]["certificates"])


CHANGES: dict[str, Callable[[Json], object]] = {
    "an entry": lambda bundle: bundle["entries"][0]["entry"].update(actor_id="somebody else"),
    "its number": lambda bundle: bundle["entries"][0]["entry"].update(seq=1),
    "a path": lambda bundle: bundle["entries"][0]["path"].reverse(),
    "a path cut short": lambda bundle: bundle["entries"][-1]["path"].pop(),
    "the root": lambda bundle: bundle["log"].update(checkpoint=bundle["log"]["checkpoint"].replace("=", "A=", 1)),
    "the size": lambda bundle: bundle["log"].update(checkpoint=bundle["log"]["checkpoint"].replace("\n", "\n1", 1)),
    "the key": lambda bundle: bundle["log"].update(key=bundle["log"]["key"][:-2] + "A="),
    "the keys": lambda bundle: bundle["log"]["keys"].pop(),
    "a key's history": lambda bundle: bundle["log"]["keys"][-1]["consistency"].pop(),
    "the first entry": lambda bundle: bundle["log"]["first"].update(hash="0" * 64),
    "an event": lambda bundle: bundle["events"].reverse(),
    "one event less": lambda bundle: bundle["events"].pop(),
    "the run": lambda bundle: bundle.update(run="another"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_changed_bundles_fail(recipes: Json, example: Json, what: str) -> None:
    bundle = copy.deepcopy(example["bundle"])
    CHANGES[what](bundle)
    assert bundle != example["bundle"]
    with pytest.raises((AssertionError, ValueError, StopIteration, KeyError)):
        recipes["verify"](bundle, ed25519_verify)


def test_paths_in_trees_of_every_small_size(recipes: Json) -> None:
    leaves = [leaf_hash(bytes([number])) for number in range(20)]
    for size in range(1, 20):
        tiles = Tiles(lambda level, start, stop: leaves[start:stop])  # they remember what they have read
        root = root_of(leaves[:size])
        for index in range(size):
            path = tiles.inclusion(index, size)
            assert verify_inclusion(leaves[index], index, size, path, root)
            assert recipes["root_by_inclusion"](leaves[index], index, size, path) == root
        for old in range(size + 1):
            proof = tiles.consistency(old, size)
            before = root_of(leaves[:old])
            assert verify_consistency(old, size, proof, before, root)
            assert recipes["goes_on"](old, size, before, root, proof)
            assert not recipes["goes_on"](old, size, leaves[0] + b"x", root, proof)


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        0.1,
        1e-5,
        0.0001,
        1e16,
        123456789.5e10,
        10**30,
        -0.0,
        "é",
        "𝄞",
        "\x1f\x7f\u2028",
        {"𝄞": 1, "\uffff": 2},
        None,
    ],
)
def test_digests_of_events(recipes: Json, value: object) -> None:
    event = read_event(json.dumps(run_event(run_facets={"odd": {"value": value}}), indent=2))
    assert recipes["event_digest"](event.body) == f"sha256:{event.digest.hex()}"


def test_an_entry_as_it_is_formatted_for_display(recipes: Json, tmp_path: Path) -> None:
    """As the section `Without a bundle` describes."""
    with Store("memory://") as store:
        fill(store, tmp_path)
        for entry in map(plain, store.audit()):
            moment = datetime.fromisoformat(entry["recorded_at"]) - datetime.fromisoformat("1970-01-01T00:00:00Z")
            hashed = {
                **{name: value for name, value in entry.items() if name != "hash"},
                "recorded_at": moment // timedelta(microseconds=1),
                "details": rfc8785.dumps(entry["details"]).decode(),
            }
            assert recipes["entry_hash"](hashed).hex() == entry["hash"]
            proof = store.inclusion(entry["seq"])
            path = [bytes.fromhex(one) for one in proof.path]
            leaf = sha256(b"\0" + bytes.fromhex(proof.entry_hash)).digest()
            root = recipes["root_by_inclusion"](leaf, proof.seq - 1, proof.size, path)
            assert (proof.entry_hash, root.hex()) == (entry["hash"], proof.root)
