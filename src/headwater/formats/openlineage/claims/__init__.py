"""Judges the evidence facets of a run by versioned rules: a certificate is verified by the rules it was made by.

first.py is version 1, second.py is version 2. Rules are never changed once there are certificates by them.
"""
