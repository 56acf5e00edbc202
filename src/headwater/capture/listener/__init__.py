"""The capture of a Spark application: from Spark's listener to events.

session      enables and disables the capture of a session
application  the capture of one application
jvm          the listener in Spark's JVM
observer     the thread that turns listener messages into events
streams      streaming queries
named_runs   runs that the user names
drops        dropped tables
table_changes  tables that are renamed or truncated, partitions at other locations, loaded files
program_calls, call_runs  wrapped calls: RDDs and models that are saved, functions run for their effects; and their runs
when_imported  an action when a module is imported
messages     the messages of the listener
plan_facts, plan_json  the facts that are read from Spark's plans, and what their JSON lacks
statistics   Spark's metrics
code, parents, program_exit  the code that runs, the run that started the application, and how the program ends
"""
