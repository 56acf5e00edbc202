"""`headwater keys`: manages the keys that sign checkpoints, and the capture keys that the store trusts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, show

if TYPE_CHECKING:
    from headwater.cli.render.log import KeyListing
    from headwater.proof.keys import KeyRing, SigningKey

KeyFileOption = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        envvar="HEADWATER_KEY",
        help="File of the signing keys.",
        show_default="in your settings folder",
    ),
]

keys = typer.Typer(help="Manage the keys that sign checkpoints and captured plans.", no_args_is_help=False)


def key_ring(file: Path | None) -> KeyRing:
    from headwater.proof.keys import KeyRing, default_key_file

    return KeyRing.load(file or default_key_file())


def public_text(key: SigningKey) -> str:
    from headwater.proof.keys import key_text

    return key_text(key.public)


@keys.callback()
def _group() -> None:
    """Manage the keys that sign checkpoints and captured plans."""


@keys.command()
def new(key_file: KeyFileOption = None, as_json: JsonOption = False) -> None:
    """Create a signing key in a file that only you can read. An existing file is never replaced."""
    from headwater.cli.render.log import key_created_text
    from headwater.proof.keys import KeyRing, default_key_file

    ring = KeyRing.create(key_file or default_key_file())
    show({"file": str(ring.file), "public": public_text(ring.newest)}, as_json, key_created_text)


@keys.command("show")
def show_(key_file: KeyFileOption = None, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Show the public keys that signed the store's log, and those in the key file."""
    from headwater.cli.render.log import key_list

    with open_store(store) as lineage:
        periods = lineage.signing_keys()
    ring = key_ring(key_file)
    answer: KeyListing = {
        "file": str(ring.file),
        "keys": [public_text(key) for key in ring.keys],
        "log": [{"from_entry": period.seq, "key": str(period.key)} for period in periods],
    }
    show(answer, as_json, key_list)


@keys.command()
def rotate(key_file: KeyFileOption = None, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Replace the signing key. The old and the new key both sign the log entry of the rotation."""
    from headwater.cli.render.log import key_rotated_text

    with open_store(store) as lineage:
        key = lineage.rotate_key(key=key_ring(key_file))
    show({"key": key}, as_json, key_rotated_text)


@keys.command()
def trust(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Public key in Base64, or a key file.")],
    name: Annotated[
        str,
        typer.Option("--name", metavar="NAME", help="Owner of the key; the audit log records it.", show_default=False),
    ] = "",
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Trust a capture key. Traces may then deserialize and run the plans that it signed."""
    from headwater.cli.render.log import key_trusted_text
    from headwater.proof.keys import read_public_key

    public = read_public_key(key)
    with open_store(store) as lineage:
        trusted = lineage.capture_keys.trust(public, name=name)
    show(trusted, as_json, key_trusted_text)


@keys.command()
def untrust(
    key: Annotated[str, typer.Argument(metavar="KEY", help="The key, or its name if the name is unique.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Stop trusting a capture key. Capturing does not make it trusted again."""
    from headwater.cli.render.log import key_untrusted_text

    with open_store(store) as lineage:
        untrusted = lineage.capture_keys.untrust(key)
    show(untrusted, as_json, key_untrusted_text)


@keys.command("list")
def list_(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List the capture keys that the store trusts or has trusted, oldest first."""
    from headwater.cli.render.log import capture_key_table

    with open_store(store) as lineage:
        result = lineage.capture_keys.all()
    show(result, as_json, capture_key_table)
