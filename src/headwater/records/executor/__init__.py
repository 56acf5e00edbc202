"""Functions that run on executors, where headwater is not installed; `records.compaction.shipping` sends them by value.

Nothing here imports anything of headwater but this package and the record schema.

bloom_filter   which keys a file may hold
file_totals    the totals of each file of the archive
lines          requests out of lines of text
packing        pairs of numbers on their way to the driver
tracing        batches cut at the end of a root, for the kernel
walking        the links of one root after the other, for the walk to its ancestors
"""
