"""``crawl-once adopt CORPUS DIR``: begin a crawl directory with the pages of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, refuse_urls
from crawler.console.escaping import say
from neardup.plurals import many

if TYPE_CHECKING:
    import argparse


class AdoptCommand(PlainCommand):
    """Fills a directory in which nothing was crawled yet."""

    after_interrupt = "interrupted; nothing was made"
    uses_profile = True
    usage = "CORPUS DIR"
    summary = "Begin a crawl directory with the pages that a corpus kept"
    description = (
        "Make a crawl directory of the output of crawl-once corpus, or of neardup.spark: what is "
        "crawled in it (crawl-once URL DIR) is judged against the pages of the corpus."
    )

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Make the directory."""
        if len(args) != 2:
            raise CommandError("a corpus and a new crawl directory are needed")
        refuse_urls(args)
        from crawler.job_registry import job_options
        from crawler.maintenance.adopt.adopting import Corpus, adopt
        from crawler.urls.canonical import Canonicalizer

        corpus, folder = Corpus(Path(args[0])), Path(args[1])
        self.progress.begin("pages adopted", len(corpus))
        canonicalizer = Canonicalizer(job_options(self.host.settings).disabled_url_rules)
        count = adopt(corpus, folder, canonicalizer, self.progress.advance)
        self.progress.end()
        say(f"{folder}: {many(count, 'page')}; crawl-once URL {folder} goes on from them")
