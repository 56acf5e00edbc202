"""Captures what a Spark session does, as OpenLineage events.

autostart  capture without a change of code
listener   the Spark listener, the thread that reads its messages, and the capture of one application
events     from a Spark execution to OpenLineage events
naming     the OpenLineage names of datasets and jobs
delivery   from an event to the sinks, through the spool
"""
