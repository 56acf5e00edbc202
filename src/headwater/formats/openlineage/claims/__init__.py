"""What a run's facets say of it, judged by rules that have a version: a certificate is checked by those it was made by.

first.py is version 1, second.py is version 2. Rules are never changed once there are certificates by them.
"""
