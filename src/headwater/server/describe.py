"""Writes the OpenAPI document that the page's client is generated from: `python -m headwater.server.describe FILE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from headwater.server.app.app import create_app


def description() -> str:
    """Return the OpenAPI document without the version, which changes with every release but not for clients."""
    document = create_app("sqlite://").openapi()
    return json.dumps({**document, "info": {**document["info"], "version": "-"}}, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(description())
