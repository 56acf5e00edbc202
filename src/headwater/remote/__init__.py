"""A store behind a Headwater server: the methods of a local store, answered over HTTP with the same types."""
