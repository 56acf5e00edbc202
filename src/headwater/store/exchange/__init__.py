"""Lineage in and out as whole graphs: elements of the exchange format streamed from a view, and imports laid down for
checks.

Datasets in a cycle are exported version by version (`versions.py`), because a format without cycles can hold those.
"""
