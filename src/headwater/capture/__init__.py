"""Captures what a Spark session does, as OpenLineage events."""
