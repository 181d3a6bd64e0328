"""Judge fetched pages, and store each capture with its verdict."""
