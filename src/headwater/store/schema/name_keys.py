"""Keys: a fixed-length stand-in for names of any length.

Parts are separated by NUL, which no stored name can contain, so ("a", "b/c") and ("a/b", "c") never share a key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from headwater.model.names import Endpoint, Job


def key_of(*parts: str) -> bytes:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).digest()


def endpoint_key(endpoint: Endpoint) -> bytes:
    room = "job" if isinstance(endpoint, Job) else "dataset"
    return key_of(room, endpoint.namespace, endpoint.name)


def hub_key(job: Job, inputs: Iterable[Endpoint]) -> bytes:
    """Of the hub of a job and a set of inputs, which are sorted by name."""
    return key_of("inputs", job.namespace, job.name, *(part for one in inputs for part in (one.namespace, one.name)))


def hub_name(job: Job, key: bytes) -> str:
    """What a hub is shown as: its job, and which of its sets of inputs."""
    return f"{job.name} (inputs {key.hex()[:16]})"
