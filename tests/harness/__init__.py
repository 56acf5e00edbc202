"""Runs the tests: selects them, distributes them over worker processes, and prints a summary."""
