"""From a Spark execution to OpenLineage events.

writes           reads what one execution reads and writes, from its plan
inputs           the inputs of a write and their columns
plan_cuts        plans that DataFrames were cut off from: checkpoints, micro-batches, kept tables
builder, facets  build the events and Headwater's own facets
evidence         options and protocol of run evidence
row_capture      options and protocol of row capture
output_quality   nulls and distinct values of what was written
literals, redaction, signing  what is removed from an event and signed before it leaves the process
"""
