"""The assurance report of a run: one HTML page for an auditor, with intent, logic and proof.

``gather`` queries the store, the section modules turn the result into HTML, and ``page`` combines them. Facets are
untrusted input, so their shape is checked, and missing ones are marked as not shown.
"""
