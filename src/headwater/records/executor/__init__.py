"""Functions that run on executors, where headwater is not installed; `records.compaction.shipping` sends them by value.

Nothing here imports anything of headwater but this package and the record schema.

bloom_filter   Bloom filters of the keys of files
file_totals    the totals of each file of the archive
lines          requests read from lines of text
packing        pairs of numbers, packed for the driver
tracing        batches regrouped by whole roots, for the kernel
walking        links grouped by root, for the walk to the ancestors
"""
