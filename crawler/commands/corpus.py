"""``crawl-once corpus INPUT OUT``, and ``adopt CORPUS DIR``, which goes on from its pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import Command, refuse_urls
from crawler.console.escaping import say
from crawler.console.options import CommandError, NoOptions
from neardup.plurals import many

if TYPE_CHECKING:
    import argparse


class CorpusCommand(Command):
    """Does what ``python -m neardup`` does: finds near-duplicates among documents in files."""

    usage = "INPUT [OUT] [--filter FILE] [options]"
    summary = "Find the near-duplicates of a corpus: jsonl, csv, parquet, arrow, WARC or WET"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        from neardup.command_line.arguments import FIND, add_find_options

        parser.description = FIND
        add_find_options(parser)

    def act(self, args: list[str], opts: NoOptions) -> None:
        from neardup.command_line.arguments import check_find_options
        from neardup.command_line.find import find
        from neardup.command_line.main import status_of

        def run() -> None:
            check_find_options(self.given)
            find(self.given)

        if args:
            raise CommandError(f"one argument too many: {args[0]}")
        self.exitcode = status_of(f"{self.host.program} {self.name}", run)


class AdoptCommand(Command):
    """Fills a directory in which nothing was crawled yet."""

    word = "adopt"
    after_interrupt = "interrupted; nothing was made"
    uses_profile = True
    usage = "CORPUS DIR"
    summary = "Begin a crawl directory with the pages that a corpus kept"
    description = (
        "Make a crawl directory of the output of crawl-once corpus, or of neardup.spark: what is "
        "crawled in it (crawl-once URL DIR) is judged against the pages of the corpus."
    )

    def act(self, args: list[str], opts: NoOptions) -> None:
        if len(args) != 2:
            raise CommandError("a corpus and a new crawl directory are needed")
        refuse_urls(args)
        from crawler.job_registry import job_options
        from crawler.maintenance.adopt.adopting import Corpus, adopt
        from crawler.urls.canonical import Canonicalizer

        corpus, folder = Corpus(Path(args[0])), Path(args[1])
        canonicalizer = Canonicalizer(job_options(self.host.settings).disabled_url_rules)
        count = adopt(corpus, folder, canonicalizer, self.progress)
        self.progress.end()
        say(f"{folder}: {many(count, 'page')}; crawl-once URL {folder} goes on from them")
