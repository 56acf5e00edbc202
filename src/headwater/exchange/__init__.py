"""Export, import and validation of lineage files.

``exporting`` writes a file from a store, ``opening`` detects and reads its format, ``validating`` checks it, and
``importing`` stores it.
"""
