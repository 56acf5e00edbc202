"""The `headwater` command. One module per command; `options`, `output`, `failures` and `render` are shared.

Starting must stay fast: a command imports the store, and Rich, only when it runs.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    try:
        from headwater.cli.app import app
        from headwater.cli.failures import run_app

        code = run_app(app)
    except KeyboardInterrupt:  # interrupted before the command started
        code = 130
    raise SystemExit(code)
