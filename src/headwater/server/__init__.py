"""The HTTP server: the OpenLineage endpoint, the lineage API and the page.

    request ──► RequestMiddleware ──────► AccessMiddleware ──► route ──► thread ──► store
                (id, path, headers, log)  (authentication)       └► problem details (RFC 9457)

``app`` assembles the application and runs it; ``access`` authenticates; ``routes`` has one module per subject, with
``marquez`` for Marquez's addresses; ``ingest`` stores events; ``rows`` answers row queries; ``tasks`` runs what takes
long in processes of its own; ``page`` has the built web page.

FastAPI is imported in this package only, and only by `headwater serve`.
"""
