"""``crawl-once urls FILE [DIR]``: fetch a list of URLs and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.console.crawl_command import CrawlCommand
from crawler.spiders.argument_table import URLS

if TYPE_CHECKING:
    from collections.abc import Mapping


class FetchUrlsCommand(CrawlCommand):
    """Fetches the URLs of a file or of standard input."""

    usage = "[options] FILE [DIR]"
    summary = "Fetch the URLs of a list, and keep each page once; - reads standard input"
    table = URLS
    first = "file"
    spider = ("crawler.spiders.urls", "UrlsSpider")

    def check(self, arguments: Mapping[str, str]) -> None:
        from crawler.spiders.arguments import check_list

        check_list(arguments, URLS)
