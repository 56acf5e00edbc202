"""From events to the graph.

An event is folded in steps, one module each, all within the transaction that stores it:

1. ``entities``: the datasets, jobs and runs it speaks of, with the facets and states that hold now;
2. ``aliases`` and ``descriptions``: which name each dataset is known by, and what it is over all of them;
3. ``writes``: a completed run (or a declaration) becomes dataset versions and lineage rows;
4. ``intervals``: the versions become edges and column edges, each with the time it held.

Every step gives the same result for the same set of events, in whatever order and however often they arrive. The
trick is the same everywhere: a statement carries the stamp (time, digest) of its event, and the greatest stamp wins.
"""
