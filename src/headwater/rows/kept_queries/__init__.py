"""Keeping a write's plan with its inputs pinned, and getting it back in another session (docs/decisions/0010)."""
