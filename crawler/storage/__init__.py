"""Store the truth of a crawl in ``crawl.db``, in a directory of one process."""
