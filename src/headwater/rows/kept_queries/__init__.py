"""Stores a write's query plan with its inputs pinned, and restores it in another session (docs/decisions/0010).

capture.py writes the facet, sources.py pins the inputs; trust.py verifies a facet (shape.py its members, roots.py its
paths), and restore.py makes the plan again.
"""
