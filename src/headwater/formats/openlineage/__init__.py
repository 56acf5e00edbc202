"""OpenLineage events: reading, checking, and what they state.

event, many     parse one event, or a JSON array of them
facets, facet_cache  check standard facets against their schema
facet_names     names and schema URLs of Headwater's own facets
accumulate      the events of one run, folded
flows, stated_columns  the lineage that events state
claims, fidelity  what a certificate is made of
signed_rows     signatures over captured plans
visibility      events without hidden namespaces
"""
