"""Evidence of captured and declared runs: facets of their last event, from which a certificate is made.

run_evidence  the provider that the capture calls: one WriteEvidence per write, the facets per run
steps, stitching, jvm  what the operators of a plan do to columns
trace, types, casts    the facets `cdme.morphismTrace` and `cdme.typeUnification`
grain, fan_out, repeats  the facet `cdme.grainSafety`: joins that multiply rows
ledger, files  the facet `cdme.accountingLedger`: how many input rows reached the output
checksums, rowhash, code, settings, designs  what the manifest hashes
measures, merging  expectations, and runs with several writes
"""
