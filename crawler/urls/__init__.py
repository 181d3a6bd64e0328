"""Which URLs are the same page, which belong to a crawl, and which may be asked for at all."""
