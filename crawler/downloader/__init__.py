"""Adapt Scrapy's downloader and Twisted's client: heads, bodies, pace, names of hosts."""
