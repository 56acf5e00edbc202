"""Renders answers as text. Each function turns one answer into a Rich renderable.

Everything from the store goes through `printable`, which escapes control characters, into a Rich `Text`, which
interprets no markup.
"""
