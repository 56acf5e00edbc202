"""Declared pipelines: nodes that run on Spark, and an outcome for every item that goes through them.

declare: what a user declares. run: one run from its nodes to its report. items: where items are, and their records.
dead_letters: rows on which a function failed, and their replay. worker: Python functions on executors. sinks: where
records and reports go.
"""
