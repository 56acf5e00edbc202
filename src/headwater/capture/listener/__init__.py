"""The capture of a Spark application: from Spark's listener to events.

session      enables and disables the capture of a session
application  the capture of one application
jvm          the listener in Spark's JVM
observer     the thread that turns listener messages into events
streams      streaming queries
named_runs   runs that the user names
drops        dropped tables
plan_facts   the facts that are read from Spark's plans
statistics   Spark's metrics
code, parents  the code that runs, and the run that started the application
"""
