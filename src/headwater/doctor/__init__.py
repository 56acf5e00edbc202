"""The checks of `headwater doctor`, with a remedy for each failure.

One module per subject; ``checks`` has their order, ``findings`` their results. ``trial`` runs the job of
``trial_job`` on Spark.
"""
