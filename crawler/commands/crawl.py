"""``crawl-once crawl URL [DIR]``: crawl a site, and keep each page once."""

from __future__ import annotations

from crawler.console.spider_command import CrawlCommand, parted
from crawler.spiders.argument_table import SITE


class CrawlSiteCommand(CrawlCommand):
    """Crawls from the URLs along the links; ``crawl`` itself may be left out."""

    usage = "[options] URL [URL ...] [DIR]"
    summary = "Crawl a site and keep each page once; the word crawl may be left out"
    description = (
        "Fetch the pages of a site and keep each of them once. State and pages go to DIR (default: "
        "crawls/HOST); crawl-once report DIR and crawl-once pages DIR read them. The same command "
        "goes on with a crawl that was stopped."
    )
    table = SITE
    first = "url"
    spider = ("crawler.spiders.site", "SiteSpider")
    check = "check_site"

    def places(self, args: list[str], *, is_known: bool) -> tuple[str, str | None]:
        urls, folder = parted(args, "a URL", is_known=is_known)
        return ",".join(urls), folder

    def missing(self) -> str:
        return f"a URL is needed; try: {self.host.program} https://docs.python.org/3/"
