"""One module a tab; each has a class with ``build`` and ``refresh``."""
