"""Removes secrets and literals from what leaves the capturing process. Pure: no Spark, no files, no clock.

shapes    the patterns of secrets in text
redactor  removes secrets, by these patterns and by Spark's settings
literals  removes literals from SQL text and values from error messages
logs      removes secrets from Headwater's own log
"""
