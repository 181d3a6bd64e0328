"""``scrapy adopt CORPUS DIR``: begin a crawl directory with the pages of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, refuse_options
from crawler.console.escaping import say
from crawler.console.verify_text import TerminalWatch
from crawler.options import job_options
from crawler.storage.errors import CrawlStorageError, JobError

if TYPE_CHECKING:
    import argparse

INTERRUPTED = 130


class AdoptCommand(PlainCommand):
    """Fills a directory in which nothing was crawled yet."""

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return "CORPUS DIR"

    def short_desc(self) -> str:
        """Return the line for the list of commands."""
        return "Begin a crawl directory with the pages that a corpus kept (neardup.spark)"

    def long_desc(self) -> str:
        """Return the text of --help."""
        return (
            "Make a crawl directory of the output of python -m neardup.spark: what is crawled in "
            "it (scrapy crawl ... -s JOBDIR=DIR) is judged against the pages of the corpus."
        )

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Make the directory."""
        from crawler.maintenance.adopt.adopting import Corpus, adopt  # noqa: PLC0415
        from crawler.urls.canonical import Canonicalizer  # noqa: PLC0415

        refuse_options(args)
        if len(args) != 2:
            raise CommandError("a corpus and a new crawl directory are needed")
        assert self.settings is not None
        watch = TerminalWatch()
        try:
            corpus, folder = Corpus(Path(args[0])), Path(args[1])
            watch.begin("pages adopted", len(corpus))
            canonicalizer = Canonicalizer(job_options(self.settings).disabled_url_rules)
            count = adopt(corpus, folder, canonicalizer, watch.advance)
        except (JobError, CrawlStorageError, ValueError) as error:
            watch.end()
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            watch.end()
            say("scrapy adopt: broken off; nothing is left of it", to_stderr=True)
            self.exitcode = INTERRUPTED
            return
        watch.end()
        say(f"{folder}: {count:,} pages; scrapy crawl ... -s JOBDIR={folder} goes on from them")
