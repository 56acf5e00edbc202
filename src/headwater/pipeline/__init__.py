"""Declared pipelines: nodes that run on Spark, and an outcome for every item that goes through them."""
