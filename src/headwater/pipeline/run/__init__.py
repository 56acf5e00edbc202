"""One run of a pipeline: its nodes in order (execution.py, steps.py), its items, its report and its events.

workspace.py is the run's folder, function_outputs.py the stored results of row functions, evidence.py its ledger.
"""
