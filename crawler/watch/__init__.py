"""Visit crawl directories by a clock, and tell what changed: diffs, feeds, webhooks."""
