"""``crawl-once verify DIR``: check that a crawl directory is complete and consistent."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, one_directory
from neardup.plurals import many

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from crawler.maintenance.verify.finding import Finding
    from crawler.maintenance.verify.verification import Verification

PROBLEMS = 1


def verification_lines(found: Verification) -> Iterator[str]:
    """Yield the lines of a verification: what is right, what is not, and how to repair it."""
    yield from (f"repaired: {deed}" for deed in found.done)
    yield f"{found.folder}: {many(found.pages, 'URL')}, {many(found.kept, 'page')} kept"
    yield ""
    for checked in found.checked:
        if not checked.findings:
            yield f"  ok       {checked.name}"
        for finding in checked.findings:
            yield from _finding_lines(finding)


def _finding_lines(finding: Finding) -> Iterator[str]:
    from crawler.console.count_tables import example_lines

    yield f"  {'leftover' if finding.is_leftover else 'PROBLEM':<8} {finding.what}"
    yield from example_lines(finding.examples, finding.count)
    if finding.is_leftover:
        yield f"           the next crawl {finding.remedy}, and so does --repair"
    elif finding.remedy:
        yield f"           --repair {finding.remedy}"
    else:
        yield f"           cannot be repaired: {finding.advice}"


class VerifyCommand(PlainCommand):
    """Exit status: 0 clean, 1 problems are left, 2 it cannot be checked."""

    after_interrupt = "interrupted; what was not finished is as before"
    usage = "[--repair] [--feed FILE] [--deep] [--json] DIR"
    summary = "Check that a crawl lost nothing and holds nothing twice, and repair it"
    description = (
        "Check that a crawl lost nothing and holds nothing twice. Nothing is written without "
        "--repair. Exit status: 0 clean, 1 problems are left, 2 it cannot be checked."
    )

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--repair",
            action="store_true",
            help="repair from crawl.db what can be, and queue pages again whose text is lost",
        )
        parser.add_argument(
            "--feed", metavar="FILE", help="check that this feed holds every kept page once"
        )
        parser.add_argument("--deep", action="store_true", help="read the WARC files through, too")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Verify a crawl directory."""
        folder = Path(one_directory(args))
        feed = None if opts.feed is None else Path(opts.feed)
        if feed is not None and not feed.exists():
            raise CommandError(f"--feed {opts.feed}: no such file")
        from crawler.maintenance.crawl_directory import CrawlDirectory
        from crawler.maintenance.verify.verification import Further, repair, verify

        with closing(CrawlDirectory(folder, only_reads=not opts.repair)) as directory:
            further = Further(feed, opts.deep)
            found = verify(directory, self.progress, further)
            if opts.repair and found.findings:
                if not opts.json:
                    self.say_result(opts, found.to_dict, [*verification_lines(found), ""])
                found = repair(directory, self.progress, found, further)
        self.say_result(opts, found.to_dict, verification_lines(found))
        self.exitcode = PROBLEMS if found.problems else 0
