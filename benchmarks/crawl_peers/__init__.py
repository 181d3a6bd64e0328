"""Whole crawls measured side by side: plain Scrapy, the same with trafilatura, ours."""
