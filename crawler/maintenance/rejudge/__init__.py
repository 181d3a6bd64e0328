"""Judge all pages of a crawl again, with its present parameters."""
