"""The application: how it is assembled, configured, run and shut down, and what all routes use.

``app`` assembles it and ``serving`` runs it with ``settings``; ``service`` is what routes share; ``threads`` calls the
store. ``http_protocol``, ``request_middleware`` and ``request_bodies`` handle a request before its route;
``responses`` and ``problems`` its response. ``openapi_schemas`` and ``document_schemas`` describe both.
"""
