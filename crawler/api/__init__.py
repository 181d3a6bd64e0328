"""Crawl from Python, and read crawl directories: ``docs/python.md`` shows how."""

from crawler.api.crawl_directory import Crawl
from crawler.api.running import CrawlError, crawl, crawl_sync
from crawler.pages.export import Duplicate, Redirect
from crawler.pages.items import Page

__all__ = ["Crawl", "CrawlError", "Duplicate", "Page", "Redirect", "crawl", "crawl_sync"]
