"""``crawl-once corpus INPUT OUT``: what ``python -m neardup`` does, as a command of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand

if TYPE_CHECKING:
    import argparse


class CorpusCommand(PlainCommand):
    """Finds the near-duplicates among documents that lie in files."""

    usage = "INPUT [OUT] [--filter FILE] [options]"
    summary = "Find the near-duplicates of a corpus: jsonl, csv, parquet, arrow, WARC or WET"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        from neardup.command_line.arguments import FIND, add_find_options

        parser.description = FIND
        add_find_options(parser)

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Judge the texts."""
        from neardup.command_line.arguments import check_find_options
        from neardup.command_line.find import find
        from neardup.command_line.main import status_of

        def run() -> None:
            check_find_options(opts)
            find(opts)

        if args:
            raise CommandError(f"one argument too many: {args[0]}")
        self.exitcode = status_of(f"{self.host.program} {self.name}", run)
