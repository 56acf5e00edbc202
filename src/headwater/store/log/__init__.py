"""The audit log, its proofs, and their verification.

**One log.** An entry of the audit log is a leaf of one RFC 6962 tree by its hash, which nothing has to be added for; a
certificate is an entry whose details it is. After every 256 entries the root over them is written beside
(`merkle_log.py`), so that a proof reads a few hundred hashes. A checkpoint (`checkpoints.py`) signs size and root with
a key that the database does not have (decision 14, docs/assurance.md).

`audit.py` appends hash-linked entries, `audit_writer.py` those for acts that leave no other trace, `log_head.py` knows
the newest. `certificates.py` chains fidelity certificates by namespace. `verify*.py` recompute all of it: the log in
partitions by several processes (`log_partitions.py`, `entries.py`), the events, the graph against a fresh fold, and one
run alone. `bundle.py` is a run's evidence as a file; `visible_entries.py` the log for keys that do not see everything.
"""
