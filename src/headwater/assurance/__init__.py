"""Evidence for readers outside: anchors for checkpoints, verification of bundles, and the report of a run."""
