"""From events to the graph, within the transaction that stores them.

1. ``entities``: the datasets, jobs and runs an event is about, with the facets and states that hold now;
2. ``aliases`` and ``descriptions``: which name each dataset is known by, and what it is over all of them;
3. ``writes``: a completed run (or a declaration) becomes dataset versions and lineage rows;
4. ``intervals``: the versions become edges and column edges, each with the time it held.

Every step gives the same result for the same set of events, in whatever order and however often they arrive: a
statement carries the stamp (time, digest) of its event, and the greatest stamp wins.

A run's events accumulate. When its state is COMPLETE, `formats/openlineage/flows.py` says for each target what flowed
in, by the strongest statement there is: a `lineage` facet, else `columnLineage`, else all inputs; an input that no
explicit statement mentions still counts. Each (run, target, partition) is a *version*; the rows of `lineage` are what
it read. Versions by the same job of the same partition replace each other, so a version is valid until the next one.
`edge` and `column_edge` are the unions of these intervals: what a walk follows, small however often a job runs, because
a version that repeats the one before changes nothing there. Static declarations (JobEvent, DatasetEvent) go the same
way with an origin of their own. Sets of upstreams, column edges and schemas are stored once, by their digest.

**A product has a hub.** Where a run states no lineage and inputs times outputs is above a limit (`edge_limits.py`), its
inputs flow into a hub and its outputs out of it: a row of `dataset` with an id below zero, for one job and one set of
inputs, and a version like any other to the fold (decision 20).

`ingest.py` is the order of steps within the transaction; `shared_commits.py` has threads that ingest at once share one.
`graph.py` finds the writers that an event concerns; `memory.py` and `repeats.py` keep what one transaction leaves for
the next (decision 9). `refold.py` folds all events afresh for `headwater verify`, which compares the tables by names
(`named_rows.py`).
"""
