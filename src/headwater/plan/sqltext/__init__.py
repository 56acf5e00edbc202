"""Expressions as Spark SQL, for people: no needless brackets or casts, columns by the names of the sources."""
