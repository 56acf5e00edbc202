"""How the tests are run: which of them, by which worker process, and what is said of them at the end."""
