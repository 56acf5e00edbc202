"""Row queries over HTTP: their bodies, lookups in pair tables, and audit entries for values that leave the server."""
