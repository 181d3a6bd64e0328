"""Run ``crawl-once mirror --single-file``: one page with all it needs, in one file."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from rich.filesize import decimal

from crawler.console.command_line import INTERRUPTED, CommandError
from crawler.console.crawl_run import problems
from crawler.console.escaping import say_or_go_on
from crawler.console.temporary_mirror import temporary_mirror
from crawler.mirror.folder import MirrorFolder
from crawler.mirror.mirror_files import FileTable
from crawler.mirror.paths import STATE_FOLDER
from crawler.mirror.single_file import SingleFile
from crawler.mirror.targets import Targets
from crawler.spiders.mirror import MirrorSpider
from crawler.storage.database import open_for_reading
from crawler.url_rules.variants import PageKeys
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from scrapy.crawler import CrawlerProcessBase
    from scrapy.settings import BaseSettings

_DONE, _INCOMPLETE = 0, 1
_SHOWN = 5


def single_file(
    out: Path,
    arguments: dict[str, str],
    settings: BaseSettings,
    process: Callable[[], CrawlerProcessBase],
) -> int:
    """Fetch a page with what it needs and write one file; return the exit status.

    Args:
        out: The file, which is replaced if it is there.
        arguments: The arguments of the spider, with one URL.
        settings: The project's settings.
        process: Makes the process of Scrapy, when everything is checked.

    Raises:
        CommandError: The file cannot be written.
        ValueError: A setting or an argument is wrong.
        MirrorError: The page with what it needs is too large.
    """
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise CommandError(f"{out}: is a directory, or in none; give a file such as page.html")
    # One page, and not the site around it.
    arguments |= {"max_depth": "0", "sitemaps": "no"}
    arguments.setdefault("requisites", "all")
    url = arguments["url"]
    what = f"single file: {url}"
    with temporary_mirror(MirrorSpider, arguments, settings, process, what) as made:
        status = _DONE
        for problem in problems(made.job):
            say_or_go_on(f"mirror: {problem}", to_stderr=True)
            status = _INCOMPLETE
        if made.job.result.is_interrupted or made.spider is None:
            return INTERRUPTED if made.spider is not None else _INCOMPLETE
        if status != _DONE:
            return status
        with (
            closing(open_for_reading(made.folder / STATE_FOLDER)) as connection,
            MirrorFolder(made.folder, read_only=True) as folder,
        ):
            table = FileTable(connection.execute)
            targets = Targets(connection.execute, table, PageKeys(connection.execute))
            found = targets.find(url)
            row = None if found is None else table.get(found.id)
            if row is None:
                raise CommandError(f"{url}: gave no page")
            single = SingleFile(folder, table, targets)
            body = single.document(row)
    partial = out.with_name(f".{out.name}.part")
    partial.write_bytes(body)
    partial.replace(out)
    say_or_go_on(f"{out}: {decimal(len(body))}, with {many(single.files, 'file')} that it needs")
    _say_missing(sorted(single.missing))
    return _DONE


def _say_missing(urls: Sequence[str]) -> None:
    if not urls:
        return
    say_or_go_on(f"{many(len(urls), 'file')} of it could not be had, and load from the network:")
    for url in urls[:_SHOWN]:
        say_or_go_on(f"  {url}")
    if len(urls) > _SHOWN:
        say_or_go_on(f"  and {len(urls) - _SHOWN:,} more")
