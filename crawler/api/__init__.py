"""Crawl from Python, and read crawl directories: ``docs/python.md`` shows how."""

from crawler.api.crawl_directory import Crawl
from crawler.api.running import CrawlError, crawl, crawl_sync
from crawler.items import Page
from crawler.pages.export import Duplicate, Redirect

__all__ = ["Crawl", "CrawlError", "Duplicate", "Page", "Redirect", "crawl", "crawl_sync"]
