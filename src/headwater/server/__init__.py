"""The HTTP server: OpenLineage in, lineage out.

    request ──► Envelope (id, path, headers, log) ──► Door (who is it) ──► a route ──► a thread ──► the store
                                                                             └► a problem (RFC 9457)

FastAPI is imported here and nowhere else, and only by `headwater serve`.
"""
