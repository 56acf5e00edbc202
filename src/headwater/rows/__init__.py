"""Row lineage: from a row of the result to the rows it was made of, and back, by a rewrite of Spark's own plan."""
