"""Secrets and literals removed from what the capturing process hands on. Pure: no Spark, no files, no clock."""
