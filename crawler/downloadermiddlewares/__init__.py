"""Adapt limits, robots.txt, pauses, passwords and WARC to Scrapy's downloader."""
