"""``crawl-once demo``: a small site on this machine, crawled, and what was found in it."""

from __future__ import annotations

import shutil
from contextlib import closing
from itertools import islice
from pathlib import Path

from crawler.console.command_line import Command
from crawler.console.escaping import say
from crawler.console.options import CommandError, NoOptions

FAILED = 1


class DemoCommand(Command):
    """Needs no network: the site has known duplicates planted in it."""

    uses_profile = True
    own_errors = (ValueError,)
    usage = "[options] [DIR]"
    summary = "Serve a small site with planted duplicates, crawl it and print the report"

    def act(self, args: list[str], opts: NoOptions) -> None:
        if len(args) > 1 or getattr(self.given, "spargs", None):
            raise CommandError("it takes a directory or nothing")
        settings = self.host.settings
        named = args[0] if args else settings["JOBDIR"]
        folder = Path(named or self._default_folder())
        _make_way(folder)
        settings.set("JOBDIR", str(folder), priority="cmdline")
        settings.set("FLEET_ENABLED", False, priority="cmdline")  # it shows one crawl
        self.exitcode = self._crawl(folder)

    def _crawl(self, folder: Path) -> int:
        from crawler.console.crawling import Crawling
        from crawler.demo import DemoServer
        from crawler.spiders.site import SiteSpider

        with DemoServer() as server:
            status = Crawling(SiteSpider, {"url": server.url}, self).run()
            return status or self._compare(folder, server.url)

    def _default_folder(self) -> Path:
        from crawler.options import Options

        return Path(str(Options(self.host.settings).raw("CRAWL_DIRECTORY"))) / "demo"

    def _compare(self, folder: Path, base: str) -> int:
        from crawler.demo import DUPLICATES
        from crawler.pages.export import export_pages
        from crawler.storage.database import open_for_reading

        with closing(open_for_reading(folder)) as connection:
            # Whichever of two was read first is the original.
            original = {
                row["url"]: row["duplicate_of"] or row["url"] for row in export_pages(connection)
            }
        base = base.rstrip("/")
        missed = [
            path
            for path, of in DUPLICATES.items()
            if original.get(base + path, path) != original.get(base + of, of)
        ]
        say(f"planted duplicates found: {len(DUPLICATES) - len(missed)} of {len(DUPLICATES)}")
        for path in missed:
            say(f"  missed: {base}{path} (of {base}{DUPLICATES[path]})")
        say(f"near pairs, with what differs: crawl-once pairs {folder}")
        return FAILED if missed else 0


def _is_of_a_demo(folder: Path) -> bool:
    """Whether a crawl directory holds pages of the demo's site, or none at all."""
    from urllib.parse import urlsplit

    from crawler.demo import DUPLICATES
    from crawler.pages.export import stored_urls
    from crawler.storage.database import open_for_reading

    planted = {*DUPLICATES, *DUPLICATES.values()}
    with closing(open_for_reading(folder)) as connection:
        urls = list(islice(stored_urls(connection), 1_000))
    return not urls or any(urlsplit(url).path in planted for url in urls)


def _make_way(folder: Path) -> None:
    """Remove what an earlier demo left, and nothing else."""
    from crawler.storage.database import FILE_NAME
    from crawler.storage.directory import lock_held

    if not folder.exists():
        return
    if not (folder / FILE_NAME).is_file():
        raise CommandError(f"{folder} is there and is no crawl directory; remove it yourself")
    if not _is_of_a_demo(folder):
        raise CommandError(f"{folder} holds another crawl than the demo; name another directory")
    with lock_held(folder):
        shutil.rmtree(folder)
