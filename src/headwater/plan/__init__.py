"""A Catalyst plan, as the JSON of ``analyzed().toJSON()``, read into column lineage. Nothing here needs Spark.

``tree`` reads the JSON, ``commands`` says what a plan writes, ``trace`` follows the columns, ``lineage`` is the answer.
Between them: ``operators`` and ``expressions`` hold one file a family, ``flow`` is what they build, ``sqltext`` says
it as SQL. It is the analyzed plan and never the optimized one, which adds inferred predicates nobody wrote.
"""
