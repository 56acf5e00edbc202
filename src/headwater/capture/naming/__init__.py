"""The OpenLineage names of datasets and jobs.

dataset_ref   a dataset's name, with what its source states about it
plan_sources  the datasets behind a leaf of a plan
targets       the dataset that a command writes
paths, catalogs, jdbc  names of files, tables and databases
run_stamps    times and ids of runs in names of folders and files
queries       column lineage of a query that a database runs
jobs          the name of a job that the user has not named
"""
