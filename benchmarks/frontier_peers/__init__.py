"""Our queue and seen set beside Scrapy's, each in its own process, and whole crawls of both."""
