"""What `./dev` does. `cli.py` has the commands. Standard library only: it runs before anything is installed."""
