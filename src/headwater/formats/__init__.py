"""File and event formats: OpenLineage events, WIA-DATA-008 graphs, GraphML and Mermaid. Nothing here knows the
store."""
