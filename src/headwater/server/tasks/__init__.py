"""Tasks: work that takes minutes, in processes of their own.

``tasks`` starts, reports and cancels them; ``task_responses`` adds the HTTP response and the audit entry. ``row_task``
and ``verify_task`` are the programs of tasks; ``confinement`` limits those that run stored queries.
"""
