"""Expressions as readable Spark SQL: no needless brackets or casts, columns by the names of the sources."""
