"""``scrapy demo``: a small site on this machine, crawled, and what was found in it."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.commands.crawl import CrawlCommand
from crawler.console.command_line import CommandError, complain, refuse_options
from crawler.console.escaping import say
from crawler.options import Options

if TYPE_CHECKING:
    import argparse

FAILED = 1


class DemoCommand(CrawlCommand):
    """Needs no network: the site has known duplicates planted in it."""

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return "[options]"

    def short_desc(self) -> str:
        """Return the line for the list of commands."""
        return "Serve a small site with planted duplicates, crawl it and print the report"

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Serve, crawl, report, and count what was planted and found."""
        from crawler.demo import DemoServer

        assert self.settings is not None
        try:
            refuse_options(args)
            if args or opts.spargs:
                raise CommandError("it takes no arguments")
            folder = Path(self.settings["JOBDIR"] or self._default_folder())
            _make_way(folder)
        except CommandError as error:
            self.exitcode = complain(self, str(error))
            return
        self.settings.set("JOBDIR", str(folder), priority="cmdline")
        self.settings.set("FLEET_ENABLED", False, priority="cmdline")  # it shows one crawl
        with DemoServer() as server:
            opts.spargs = {"url": server.url}
            super().run(["site"], opts)
            if self.exitcode == 0:
                self._compare(folder, server.url)

    def _default_folder(self) -> Path:
        assert self.settings is not None
        return Path(str(Options(self.settings).raw("CRAWL_DIRECTORY"))) / "demo"

    def _compare(self, folder: Path, base: str) -> None:
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
        say("what the verdicts mean: docs/verdicts.md")
        if missed:
            self.exitcode = FAILED


def _make_way(folder: Path) -> None:
    """Remove what an earlier demo left, and nothing else."""
    from filelock import FileLock, Timeout

    from crawler.storage.database import FILE_NAME

    if not folder.exists():
        return
    if not (folder / FILE_NAME).is_file():
        raise CommandError(f"{folder} is there and is no crawl directory; remove it yourself")
    try:
        with FileLock(folder / "lock", timeout=0):
            shutil.rmtree(folder)
    except Timeout:
        raise CommandError(f"{folder} is in use by another process") from None
