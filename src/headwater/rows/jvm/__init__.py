"""Java classes that split a Catalyst plan into blocks and follow rows through it.

They are written as headwater/jvm says.
"""
