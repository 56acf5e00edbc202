"""Java classes that split a Catalyst plan into blocks and follow rows through it (headwater/jvm.py).

They are compiled by Janino, the compiler that Spark brings along. It knows no generics and no lambdas, so the sources
have none.
"""
