"""Row lineage: from result rows to their source rows, and forward again, by a rewrite of Spark's own plan.

The plan is split into blocks (jvm/BlockBuilder.java, provenance.py). A trace starts from the result (backward.py) or
from source rows (forward.py), and continues through other jobs in *_chain.py. why_not*.py explain why a row is missing.
kept_queries stores a write's query so that it can be run again; pairs stores its row lineage as Parquet tables.
"""
