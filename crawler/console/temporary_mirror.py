"""Crawl as a mirror does, in a folder that is removed afterwards."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from crawler.console.crawl_run import crawl_to_end
from crawler.console.escaping import say_or_go_on
from crawler.job_registry import prepare_job
from crawler.mirror.paths import STATE_FOLDER
from crawler.page_rendering import wanted_rendering
from crawler.spiders.mirror import MirrorSpider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Spider
    from scrapy.crawler import CrawlerProcessBase
    from scrapy.settings import BaseSettings

    from crawler.job import Job


class TemporaryMirror(NamedTuple):
    """A crawl that has ended.

    Attributes:
        folder: Folder of the mirror.
        job: Its job, closed.
        spider: Its spider; None where it did not start, of which the log says why.
    """

    folder: Path
    job: Job
    spider: Spider | None


@contextmanager
def temporary_mirror(
    spider: type[MirrorSpider],
    arguments: dict[str, str],
    settings: BaseSettings,
    process: Callable[[], CrawlerProcessBase],
    what: str,
) -> Iterator[TemporaryMirror]:
    """Crawl into a folder that exists while the block lasts.

    Args:
        spider: Class of the spider.
        arguments: Its arguments.
        settings: The project's settings.
        process: Makes the process of Scrapy, when everything is checked.
        what: Line that is printed before the crawl.

    Raises:
        ValueError: A setting or an argument is wrong.
    """
    MirrorSpider.check_arguments(arguments)
    wanted_rendering(settings, MirrorSpider.render_choice(arguments))
    settings.set("WARC_ENABLED", False, priority="cmdline")
    with TemporaryDirectory(prefix="crawl-once-") as place:
        folder = Path(place) / "mirror"
        settings.set("JOBDIR", str(folder / STATE_FOLDER), priority="cmdline")
        job = prepare_job(settings)
        try:
            job.claim(MirrorSpider.plan(arguments), MirrorSpider.scope_name(arguments))
            say_or_go_on(what)
            crawler = crawl_to_end(process(), spider, arguments, job)
        finally:
            job.close()
        yield TemporaryMirror(folder, job, crawler.spider)
