"""What runs on executors, where headwater is not installed; `records.shipping` sends it along by value.

Nothing here imports anything of ours but this package itself.
"""
