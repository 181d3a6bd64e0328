"""``scrapy report DIR``: report the pages and duplicates of a crawl."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, one_directory
from crawler.console.escaping import say, say_json
from crawler.console.report_text import report_lines
from crawler.maintenance.crawl_report import make_report
from crawler.storage.database import open_for_reading
from crawler.storage.errors import JobError

if TYPE_CHECKING:
    import argparse


class ReportCommand(PlainCommand):
    """Prints a report, also while the crawl is running."""

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return "[--json] DIR"

    def short_desc(self) -> str:
        """Return the line for the list of commands."""
        return "Say what a crawl found: verdicts, clusters of duplicates, what was saved"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this command."""
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the report of a crawl directory."""
        folder = Path(one_directory(args))
        try:
            with closing(open_for_reading(folder)) as connection:
                report = make_report(connection)
        except JobError as error:
            raise CommandError(str(error)) from None
        if opts.json:
            say_json(report.to_json())
            return
        for line in report_lines(report, str(folder)):
            say(line)
