"""Answers as text for a person. Each function turns one answer into something Rich can print.

Everything that comes out of the store is put into a Rich `Text`, which knows no markup, after `printable` has made it
harmless for a terminal.
"""
