"""Export, import and validation of lineage files.

``exporting`` writes a file from a store in one of the ``export_formats``, ``opening`` detects and reads the format of a
file, ``validating`` checks it, and ``importing`` stores it.
"""
