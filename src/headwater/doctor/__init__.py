"""Is this installation in order, and if not, what is to be done? One subject a file; ``checks.py`` has their order."""
