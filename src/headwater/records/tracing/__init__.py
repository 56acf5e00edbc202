"""Tracing: from the records of a root to the trace of every leaf.

graph         records as a graph of numbers
components    its cycles
walks         the ancestors of every leaf
kernel        traces as Arrow tables
root_traces   traces as Python objects
spark_traces  traces of any number of roots with Spark
big_roots     roots that are too large for one executor: traces by joins
distributed   their ancestors by squaring the relation
walking       their ancestors where squaring grows too large
"""
