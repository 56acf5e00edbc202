"""The items of a run: rows of sources, followed through the nodes.

item_ids.py gives ids to source rows, and following.py keeps them while nodes run. item_locations.py finds the rows that
items reach at a node. accounts.py makes one row for each item: by fast_path.py where every item stays one row, else by
general_path.py. finalize.py writes these rows (item_log.py, stage_columns.py) and counts them. Terminal records are
made when they are read: by Spark in item_records.py, in Python in expansion.py, without Spark in stored_records.py.
"""
