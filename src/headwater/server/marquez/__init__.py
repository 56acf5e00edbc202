"""Marquez's addresses and shapes, over our store: for clients that were made for it. Only what is read."""
