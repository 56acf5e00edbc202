"""Who created, modified, accessed or deleted a dataset: from the runs that used it, and from what was stated."""
