"""Ingest of events: grouped commits, in a writer process of its own.

``fast_ingest_route`` handles the request, ``group_commit`` collects single events, ``writer_client`` sends them to
``writer_process``, which ``writer_supervisor`` keeps running. ``local_ingest`` stores events in whichever process.
"""
