"""Lineage in files: written from a store, checked, and taken into one."""
