"""WIA-DATA-008: a lineage graph as documents, and the files that carry them. Pure: nothing here knows the store."""
