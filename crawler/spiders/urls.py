"""The spider that fetches a list of URLs and nothing else."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TextIO

from crawler.pages.verdicts import FAILED
from crawler.spiders.argument_table import URLS
from crawler.spiders.arguments import STANDARD_INPUT, check_list
from crawler.spiders.page_spider import BREATH
from crawler.spiders.probes import ControllingSpider
from crawler.urls.canonical import MalformedUrl
from crawler.urls.seeds import check_seed
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from scrapy import Request

    from crawler.spiders.argument_table import Argument


class UrlsSpider(ControllingSpider):
    """Fetches the URLs of a file or of standard input, one a line, and no others."""

    name = "urls"
    arguments: ClassVar[Mapping[str, Argument]] = URLS

    planned = ("file",)
    adds_when_finished = "what is new in the list is fetched, everything again with -a revisit=yes"

    file: str
    cookies: str = ""

    @classmethod
    def check_arguments(cls, arguments: Mapping[str, str]) -> None:
        check_list(arguments, cls.arguments)

    @classmethod
    def folder_name(cls, arguments: Mapping[str, str]) -> str:
        name = arguments["file"]
        return "stdin" if name == STANDARD_INPUT else f"list-{Path(name).stem}"

    async def first_requests(self) -> AsyncIterator[Request]:
        malformed = requests = 0
        self.job.callbacks.at_close.append(self._note_failed)
        with self._open() as lines:
            for number, line in enumerate(lines, 1):
                text = line.strip()
                if not text or text.startswith("#"):
                    continue
                try:
                    url = check_seed(text)
                except MalformedUrl as error:
                    malformed += 1
                    self.logger.warning("%s, line %d: %s", self.file, number, error)
                    continue
                request = self.page_request(url, {"depth": 0})
                if request is not None:
                    yield request
                    requests += 1
                if requests % BREATH == 0:
                    await asyncio.sleep(0)
        if not requests:
            self.result.note_dead_seed(self.file, "no URL in it")
        if malformed:
            self.crawler.stats.set_value("crawl/malformed_urls", malformed)
            bad = many(malformed, "line")
            self.result.missing.append(f"{bad} of {self.file} gave no URL, see above")

    def _note_failed(self) -> None:
        """Say how many URLs of the list gave no page, of a run that came to its end."""
        failed = self.result.verdicts[FAILED]
        if failed and not self.result.is_interrupted:
            hint = "the report tells why, and a visit of what failed (revisit) asks again"
            self.result.missing.append(f"{many(failed, 'URL')} failed: {hint}")

    def _open(self) -> TextIO:
        if self.file == STANDARD_INPUT:
            # Not the stream itself: closing it would take it from the process.
            return open(sys.stdin.fileno(), encoding="utf-8-sig", errors="replace", closefd=False)
        return Path(self.file).open(encoding="utf-8-sig", errors="replace")
