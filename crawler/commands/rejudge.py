"""``scrapy rejudge DIR``: judge all pages of a crawl again by its present parameters."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, one_directory
from crawler.console.escaping import say, say_json
from crawler.console.verify_text import TerminalWatch
from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.maintenance.rejudge.rejudging import rejudge
from crawler.storage.errors import JobError
from neardup import NearDupError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from crawler.maintenance.rejudge.rejudging import Rejudgement

INTERRUPTED = 130


def rejudgement_lines(found: Rejudgement, folder: str, *, dry_run: bool) -> Iterator[str]:
    """Yield the lines of a report: the changes, and what to do next."""
    kept = f"{found.kept:,} {'would be kept' if dry_run else 'kept'}"
    yield f"{found.judged:,} pages judged again: {kept}, {found.kept_before:,} before"
    if not found.changes:
        yield "nothing changes"
        return
    yield ""
    yield f"{found.now_kept:>11,}  duplicates before, kept now"
    yield from _urls(found.kept_examples, found.now_kept)
    yield f"{found.now_dropped:>11,}  kept before, duplicates now"
    yield from _urls(found.dropped_examples, found.now_dropped)
    yield f"{found.otherwise:>11,}  duplicates as before, of another page or by another measure"
    yield from _to_fetch(found, dry_run=dry_run)
    yield ""
    if dry_run:
        yield "nothing was changed: without --dry-run it is"
    else:
        yield f"feeds hold what was kept before: export anew with scrapy pages {folder}"


def _to_fetch(found: Rejudgement, *, dry_run: bool) -> Iterator[str]:
    if not found.to_fetch:
        return
    if not found.can_fetch:
        yield f"{found.to_fetch:>11,}  of which nobody holds the text: the next visit reads them"
    else:
        done = "would be queued" if dry_run else "queued"
        yield f"{found.to_fetch:>11,}  of which nobody holds the text: {done}, to be fetched again"


def _urls(urls: tuple[str, ...], count: int) -> Iterator[str]:
    for url in urls:
        yield f"             {url}"
    if count > len(urls):
        yield f"             and {count - len(urls):,} more"


class RejudgeCommand(PlainCommand):
    """Judges the pages of a crawl that is not running."""

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return "[--dry-run] [--json] DIR"

    def short_desc(self) -> str:
        """Return the line for the list of commands."""
        return "Judge all pages of a crawl again by its parameters of today (scrapy tune)"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this command."""
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
