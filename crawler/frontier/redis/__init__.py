"""Which URL next, for a fleet of crawlers: queue and seen set in one Redis."""
