"""Crawls of sites with many URLs a page: plain Scrapy, ours without and with learned rules."""
