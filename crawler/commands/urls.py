"""``crawl-once urls FILE [DIR]``: fetch a list of URLs and nothing else."""

from __future__ import annotations

from crawler.console.spider_command import CrawlCommand
from crawler.spiders.argument_table import URLS


class FetchUrlsCommand(CrawlCommand):
    """Fetches the URLs of a file or of standard input."""

    usage = "[options] FILE [DIR]"
    summary = "Fetch the URLs of a list, and keep each page once; - reads standard input"
    table = URLS
    first = "file"
    spider = ("crawler.spiders.urls", "UrlsSpider")
    check = "check_list"
