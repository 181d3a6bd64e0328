"""Hook into a crawl: keep its job, end it at its limits, show how it goes."""
