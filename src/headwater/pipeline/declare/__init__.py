"""What a user declares: the pipeline, its nodes and the lineage options. Nothing here needs Spark."""
