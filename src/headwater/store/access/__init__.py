"""Who may see and do what in a store: visibility by namespace, views that apply it, API keys, sessions."""
