"""Many workers, one crawl: what a worker does beside fetching pages."""
