"""Queries of the graph. Each uses a :class:`~headwater.store.access.view.View` and reads its tables only.

**Three grains, one walk.** Datasets, partitions and columns are walked by the same code (`traverse.py`) over `edge`,
`lineage` and `column_edge`, frontier by frontier, one query a level and one more where a level leads to hubs. A node is
(dataset, part); no part means the dataset as a whole and matches every part. An upstream without recorded columns is
a column edge with the dependency UNKNOWN, so the lineage of a column never ends silently.

`closure.py` answers upstream and downstream, `impact.py` what a change breaks, `edge_runs.py` which run is behind an
edge. `lookup.py` goes from a typed name to a row; `catalog.py`, `jobs.py`, `runs.py`, `versions.py` and `outputs.py`
describe one. `pages.py` has lists page by page: a cursor is a position in the order, so inserts do not shift it.
`final_events.py` reads what only the last events of runs say, `overview.py` what to look at first.
"""
