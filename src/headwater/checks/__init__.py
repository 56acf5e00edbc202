"""Data quality measured by Spark: the rules that rows break, counted in one pass.

breaking.py: a rule as a condition on rows; measuring.py: all rules in one aggregation; checked.py: the result;
naming.py: the dataset that a frame reads; events.py: the result as OpenLineage events.
"""
