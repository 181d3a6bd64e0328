"""Store the queue and the seen set of a fleet of crawlers in one Redis."""
