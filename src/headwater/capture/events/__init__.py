"""From a Spark execution to OpenLineage events.

writes           reads what one execution reads and writes, from its plan
inputs           the inputs of a write and their columns
written_schema   the types of written columns
plan_cuts        plans that DataFrames were cut off from: checkpoints, micro-batches, kept tables, sinks in memory
driver_gaps      the gap of a frame that the program made after it had read rows into the driver
rdd_inputs       what an RDD is made of
table_events     changes of a table that move no rows
builder, facets  build the events and Headwater's own facets
evidence         options and protocol of run evidence
row_capture      options and protocol of row capture
output_quality   nulls and distinct values of what was written
literals, redaction, signing  what is removed from an event and signed before it leaves the process
"""
