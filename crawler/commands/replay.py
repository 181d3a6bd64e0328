"""``crawl-once replay WARC [DIR]``: crawl an archive, without a network."""

from __future__ import annotations

from crawler.console.spider_command import CrawlCommand
from crawler.spiders.argument_table import REPLAY


class ReplayCommand(CrawlCommand):
    """Judges the pages of WARC and WACZ files, of HTML and of JSON lines as a crawl would."""

    usage = "[options] WARC|FOLDER|FILE.jsonl[,...] [DIR]"
    summary = "Make a crawl of WARC or WACZ files, a folder of HTML, or JSON lines"
    table = REPLAY
    first = "warc"
    spider = ("crawler.spiders.replay", "ReplaySpider")
    check = "check_archive"
