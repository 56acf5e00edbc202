"""The proofs of the log, without a store: hashing, Merkle trees, signed notes, keys and bundles.

``canonical`` hashes documents (RFC 8785); ``merkle`` has the tree of RFC 6962 and ``tiles`` its storage; ``notes`` has
signed notes and checkpoints (C2SP); ``keys`` the key files and ``history`` the keys of a log over time; ``bundle`` the
file with the evidence of a run.
"""
