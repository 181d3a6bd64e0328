"""Decide which URLs are the same page, which belong to a crawl, and which may be requested."""
