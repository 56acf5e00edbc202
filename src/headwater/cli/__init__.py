"""The `headwater` command. One file a command; what they share is in `options`, `output`, `failures` and `render`.

Starting must stay fast: a command imports the store, and Rich, when it runs and not before.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    try:
        from headwater.cli.app import app
        from headwater.cli.failures import run_app

        code = run_app(app)
    except KeyboardInterrupt:  # interrupted before it had begun
        code = 130
    raise SystemExit(code)
