"""Quality measured by Spark: which rows break which rules, in one pass, and what is told of it."""
