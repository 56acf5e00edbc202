"""A Catalyst plan, as the JSON of ``analyzed().toJSON()``, read into column lineage. Nothing here needs Spark.

tree        reads the JSON
commands    what a plan writes; rowlevel: MERGE, UPDATE and DELETE
trace       follows the columns; context: what the rules below may call
lineage     the result
operators, expressions  one module per family of rules
operator_traits  what each operator does with rows and columns, for all packages
flow, relation  what the rules build: values and their sources, columns and their rows
shape       a plan without the ids of one run, for hashing
sqltext     expressions as SQL

It reads the analyzed plan and never the optimized one, which adds inferred predicates that the user did not write.
"""
