"""Many crawl directories made one."""
