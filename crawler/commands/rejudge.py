"""``scrapy rejudge DIR``: judge all pages of a crawl again by the parameters that hold now."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, one_directory
from crawler.console.escaping import say, say_json
from crawler.console.rejudge_text import rejudgement_lines
from crawler.console.verify_text import TerminalWatch
from crawler.maintenance.rejudge.rejudging import rejudge
from crawler.maintenance.verify.directory_checks import CrawlDirectory
from crawler.storage.errors import JobError
from neardup import NearDupError

if TYPE_CHECKING:
    import argparse

INTERRUPTED = 130


class Command(PlainCommand):
    """For a crawl that is not running."""

    def syntax(self) -> str:
        """Shown in the usage line."""
        return "[--dry-run] [--json] DIR"

    def short_desc(self) -> str:
        """Shown in the list of commands."""
        return "Judge all pages of a crawl again by its parameters of today (scrapy tune)"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """The options of this command."""
        super().add_options(parser)
        parser.add_argument("--dry-run", action="store_true", help="say it, and change nothing")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Judge the pages of a crawl directory again."""
        folder = Path(one_directory(args))
        watch = TerminalWatch()
        try:
            with closing(CrawlDirectory(folder)) as directory:
                found = rejudge(directory, watch, dry_run=opts.dry_run)
        except BrokenPipeError:
            raise
        except (JobError, NearDupError, OSError) as error:
            watch.end()
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            watch.end()
            say("scrapy rejudge: broken off; all is as it was before", to_stderr=True)
            self.exitcode = INTERRUPTED
            return
        watch.end()
        if opts.json:
            say_json(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
            return
        for line in rejudgement_lines(found, str(folder), dry_run=opts.dry_run):
            say(line)
