"""Run one crawl with many workers."""
