"""Merge many crawl directories into one."""
