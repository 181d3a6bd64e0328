"""``scrapy verify DIR``: check that a crawl directory is complete and consistent."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, one_directory
from crawler.console.escaping import say, say_json
from crawler.console.verify_text import TerminalWatch, verification_lines
from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.maintenance.verify.verification import repair, verify
from crawler.storage.errors import JobError
from neardup import NearDupError

if TYPE_CHECKING:
    import argparse

    from crawler.maintenance.verify.verification import Verification

PROBLEMS = 1
INTERRUPTED = 130


class VerifyCommand(PlainCommand):
    """Exit status: 0 clean, 1 problems are left, 2 it cannot be checked."""

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return "[--repair] [--feed FILE] [--json] DIR"

    def short_desc(self) -> str:
        """Return the line for the list of commands."""
        return "Check that a crawl lost nothing and holds nothing twice, and mend it"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this command."""
        super().add_options(parser)
        parser.add_argument(
            "--repair",
            action="store_true",
            help="mend what can be mended from crawl.db; pages whose text is lost are queued again",
        )
        parser.add_argument(
            "--feed", metavar="FILE", help="check that this feed holds every kept page once"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Verify a crawl directory."""
        folder = Path(one_directory(args))
        watch = TerminalWatch()
        try:
            with closing(CrawlDirectory(folder)) as directory:
                found = self._verify(directory, opts, watch)
        except BrokenPipeError:
            raise
        except (JobError, NearDupError, OSError) as error:
            watch.end()
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            watch.end()
            say("scrapy verify: broken off; what was not finished is as before", to_stderr=True)
            self.exitcode = INTERRUPTED
            return
        watch.end()
        if opts.json:
            say_json(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        else:
            _say(found)
        self.exitcode = PROBLEMS if found.problems else 0

    def _verify(
        self, directory: CrawlDirectory, opts: argparse.Namespace, watch: TerminalWatch
    ) -> Verification:
        feed = None if opts.feed is None else Path(opts.feed)
        found = verify(directory, watch, feed)
        if not opts.repair or not found.findings:
            return found
        if not opts.json:
            watch.end()
            _say(found)
            say()
        return repair(directory, watch, found, feed)


def _say(found: Verification) -> None:
    for deed in found.done:
        say(f"repaired: {deed}")
    for line in verification_lines(found):
        say(line)
