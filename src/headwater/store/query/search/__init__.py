"""Finding datasets, jobs, columns and runs by half-remembered names."""
