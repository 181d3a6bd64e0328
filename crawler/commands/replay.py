"""``crawl-once replay WARC [DIR]``: crawl an archive, without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.console.crawl_command import CrawlCommand
from crawler.spiders.argument_table import REPLAY

if TYPE_CHECKING:
    from collections.abc import Mapping


class ReplayCommand(CrawlCommand):
    """Judges the pages of WARC and WACZ files, of HTML and of JSON lines as a crawl would."""

    usage = "[options] WARC|FOLDER|FILE.jsonl[,...] [DIR]"
    summary = "Make a crawl of WARC or WACZ files, a folder of HTML, or JSON lines"
    table = REPLAY
    first = "warc"
    spider = ("crawler.spiders.replay", "ReplaySpider")

    def check(self, arguments: Mapping[str, str]) -> None:
        from crawler.spiders.arguments import check_archive

        check_archive(arguments, REPLAY)
