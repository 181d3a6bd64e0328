"""Crawl as a mirror does, in a folder that is removed afterwards."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from crawler.console.crawl_run import SpiderRun
from crawler.console.mirror_run import MIRROR_TELLER
from crawler.mirror.paths import STATE_FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import CrawlerProcessBase
    from scrapy.settings import BaseSettings

    from crawler.job import Job
    from crawler.spiders.mirror import MirrorSpider
    from crawler.warc.archive import Archive


class TemporaryMirror(SpiderRun):
    """One run in a folder that exists until it is concluded.

    Args:
        spidercls: The spider.
        arguments: Its arguments.
        settings: The project's settings.
        what: Line that is printed before the crawl.
    """

    _folder: Path

    def __init__(
        self,
        spidercls: type[MirrorSpider],
        arguments: dict[str, str],
        settings: BaseSettings,
        what: str,
    ) -> None:
        super().__init__(spidercls, arguments, settings, MIRROR_TELLER)
        self._what = what
        settings.set("WARC_ENABLED", False, priority="cmdline")

    def run(self, process: Callable[[], CrawlerProcessBase]) -> int:
        with TemporaryDirectory(prefix="crawl-once-") as place:
            self._folder = Path(place) / "mirror"
            self._settings.set("JOBDIR", str(self._folder / STATE_FOLDER), priority="cmdline")
            return super().run(process)

    def _begins(self, job: Job, before: str | None, archive: Archive | None) -> bool:
        self._tell(self._what)
        return True
