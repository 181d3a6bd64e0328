"""``crawl-once report DIR`` and ``verify DIR``: what a crawl found, and whether it lost nothing."""

from __future__ import annotations

import re
import sys
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler.console.command_line import Command, checked_file, one_directory
from crawler.console.escaping import say, template_environment, whole_file
from crawler.console.options import (
    JSON,
    CommandError,
    PageOptions,
    flag,
    option,
    page_selection,
    selection_words,
)
from neardup.plurals import many

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence

    from crawler.maintenance.tally import SelectionReport
    from crawler.maintenance.verify.finding import Finding
    from crawler.maintenance.verify.verification import Verification


_ENDINGS = (".html", ".htm")
_MAX_EXAMPLES = 100  # of a fault, in the page
_LINK = re.compile(r"https?://[^/]")  # a URL that a browser may follow from the page


@dataclass(frozen=True)
class _ReportOptions(PageOptions):
    links: bool = flag("say what links of each kind led to, and no more")
    rendering: bool = flag("say which kinds of URLs show more in a browser, and no more")
    json: bool = flag(JSON)
    html: str | None = option(
        "FILE", "write a page to read and to print, with what crawl-once links finds"
    )


class ReportCommand(Command):
    """Prints a report, also while the crawl is running."""

    options = _ReportOptions
    usage = "[--links | --rendering] [--json | --html FILE] DIR"
    summary = "Say what a crawl found, also while it runs: verdicts, clusters, what was saved"

    def act(self, args: list[str], opts: _ReportOptions) -> None:
        if opts.links and opts.rendering:
            raise CommandError("--links and --rendering cannot be combined; give one of them")
        if opts.html is not None:
            _check_page(opts.html, args)
        folder = one_directory(args)
        if opts.html is not None:
            self._write_page(folder, opts.html, opts)
            return
        if words := selection_words(opts):
            self._report_selection(folder, words, opts)
            return
        from crawler.console.report_text import (
            for_terminal,
            link_lines,
            rendering_lines,
            report_lines,
        )
        from crawler.maintenance.crawl_report import make_report
        from crawler.storage.database import open_for_reading
        from crawler.url_rules.file_links import read_links
        from crawler.url_rules.render_kinds import read_kinds

        with closing(open_for_reading(Path(folder))) as connection:
            if opts.links:
                links = read_links(connection)
                self.say_result(
                    opts,
                    lambda: {kind: count._asdict() for kind, count in links.items()},
                    link_lines(links),
                )
                return
            if opts.rendering:
                kinds = read_kinds(connection.execute)
                self.say_result(
                    opts,
                    lambda: {name: kind.counts() for name, kind in kinds.items()},
                    rendering_lines(kinds),
                )
                return
            report = make_report(connection)
        lines = for_terminal(report_lines(report, folder), sys.stdout)
        self.say_result(opts, partial(asdict, report), lines)

    def _write_page(self, folder: str, name: str, opts: _ReportOptions) -> None:
        """Write the report of the whole crawl as one HTML file."""
        if opts.json or opts.links or opts.rendering or selection_words(opts):
            raise CommandError("--html writes the report of a whole crawl; leave the others out")
        from crawler.storage.database import open_for_reading

        to = checked_file(name, "--html")
        self.after_interrupt = f"interrupted; nothing was written to {to}"
        with closing(open_for_reading(Path(folder))) as connection:
            page = html_report(connection, folder, self.progress)
        with whole_file(to) as file:
            file.write(page.encode("utf-8", "replace"))
        if to != "-":
            say(f"report in {to}", to_stderr=True)

    def _report_selection(self, folder: str, words: str, opts: _ReportOptions) -> None:
        """Print the counts of chosen pages alone: all else is of the crawl as a whole."""
        from crawler.maintenance.tally import report_selection
        from crawler.storage.database import open_for_reading

        if opts.links or opts.rendering:
            raise CommandError(f"--links and --rendering count all pages; leave {words} out")
        selection = page_selection(opts)
        with closing(open_for_reading(Path(folder))) as connection:
            found = report_selection(connection, selection)
        self.say_result(opts, partial(asdict, found), selection_lines(found, folder, words))


def _check_page(name: str, args: Sequence[str]) -> None:
    """Check the file of ``--html``, which may have been forgotten before the directory.

    Raises:
        CommandError: It is a directory, or its name is not that of an HTML file.
    """
    if Path(name).is_dir() or (not args and not Path(name).suffix):
        command = f"crawl-once report --html report.html {name}"
        raise CommandError(f"--html takes the file that is written, got {name}; try: {command}")
    if name != "-" and Path(name).suffix.lower() not in _ENDINGS:
        raise CommandError(
            f"--html {name}: an HTML page is written; name a file that ends in .html or .htm"
        )


def selection_lines(found: SelectionReport, folder: str, words: str) -> Iterator[str]:
    """Yield the counts of chosen pages.

    Args:
        found: The counts.
        folder: The crawl directory.
        words: The options that chose the pages.
    """
    from rich.filesize import decimal

    from crawler.pages.items import iso_time

    yield f"{folder}, {words}:"
    if not found.pages or found.first_at is None or found.last_at is None:
        yield "  no page"
        return
    yield f"  {found.pages:>9,}  URLs, {decimal(found.body_bytes)}"
    yield f"  {found.kept:>9,}  kept"
    yield f"  {found.duplicates:>9,}  duplicates"
    yield f"fetched from {iso_time(found.first_at)} to {iso_time(found.last_at)}"
    for name in ("verdicts", "statuses", "types", "languages"):
        counts: dict[str, int] = getattr(found, name)
        yield f"{name}:"
        yield from (f"  {count:>9,}  {value}" for value, count in counts.items())


def html_report(
    connection: sqlite3.Connection, folder: str, show: Callable[[float, str], None]
) -> str:
    """Return the report of a crawl as an HTML page that needs no other file and no script.

    Args:
        connection: Connection from ``open_for_reading``.
        folder: The crawl directory, as it is named.
        show: Called with the share that is done and the current step.

    Raises:
        JobError: The keys of its URLs were made by another version.

    Complexity: O(links * log pages), as of ``find_faults``.
    """
    from rich.filesize import decimal

    from crawler.maintenance.crawl_report import make_report
    from crawler.maintenance.fault import FAULTS
    from crawler.maintenance.site_faults import find_faults
    from crawler.maintenance.tally import report_selection
    from crawler.pages.export import ALL, stored_urls
    from crawler.pages.verdicts import OUTCOMES, VERDICTS

    counts = report_selection(connection, ALL)
    first = next(stored_urls(connection), "")
    environment = template_environment()
    environment.filters |= {"number": "{:,}".format, "percent": _percent, "link": _LINK.match}
    return environment.get_template("report.html").render(
        site=urlsplit(first).netloc if first else folder,
        folder=folder,
        first_day=_day(counts.first_at),
        last_day=_day(counts.last_at),
        size=decimal(counts.body_bytes),
        counts=counts,
        report=make_report(connection),
        found=find_faults(connection, _MAX_EXAMPLES, show),
        faults=FAULTS,
        verdicts=VERDICTS,
        outcomes=OUTCOMES,
    )


def _percent(part: int, whole: int) -> str:
    """Return a share that is 0 % or 100 % only if it is nothing or all."""
    share = part / whole if whole else 0.0
    if 0 < share < 0.01:
        return "< 1 %"
    return "> 99 %" if 0.99 < share < 1 else f"{share:.0%}".replace("%", " %")


def _day(moment: float | None) -> str:
    return "never" if moment is None else f"{datetime.fromtimestamp(moment, UTC):%-d %B %Y}"


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
    from crawler.console.report_text import example_lines

    yield f"  {'leftover' if finding.is_leftover else 'PROBLEM':<8} {finding.what}"
    yield from example_lines(finding.examples, finding.count)
    if finding.is_leftover:
        yield f"           the next crawl {finding.remedy}, and so does --repair"
    elif finding.remedy:
        yield f"           --repair {finding.remedy}"
    else:
        yield f"           cannot be repaired: {finding.advice}"


@dataclass(frozen=True)
class _VerifyOptions:
    repair: bool = flag(
        "repair from crawl.db what can be, and queue pages again whose text is lost"
    )
    feed: str | None = option("FILE", "check that this feed holds every kept page once")
    deep: bool = flag("read the WARC files through, too")
    json: bool = flag(JSON)


class VerifyCommand(Command):
    """Exit status: 0 clean, 1 problems are left, 2 it cannot be checked."""

    options = _VerifyOptions
    word = "verify"
    after_interrupt = "interrupted; what was not finished is as before"
    usage = "[--repair] [--feed FILE] [--deep] [--json] DIR"
    summary = "Check that a crawl lost nothing and holds nothing twice, and repair it"
    description = (
        "Check that a crawl lost nothing and holds nothing twice. Nothing is written without "
        "--repair. Exit status: 0 clean, 1 problems are left, 2 it cannot be checked."
    )

    def act(self, args: list[str], opts: _VerifyOptions) -> None:
        folder = Path(one_directory(args))
        feed = None if opts.feed is None else Path(opts.feed)
        if feed is not None and not feed.exists():
            raise CommandError(f"--feed {opts.feed}: no such file")
        from crawler.maintenance.crawl_directory import CrawlDirectory
        from crawler.maintenance.verify.verification import Further, repair, verify

        with closing(CrawlDirectory(folder, only_reads=not opts.repair)) as directory:
            further = Further(feed, opts.deep)
            if not opts.repair:
                found = verify(directory, self.progress, further)
            else:
                first, found = repair(directory, self.progress, further)
                if first.findings and not opts.json:
                    self.say_result(opts, first.to_dict, [*verification_lines(first), ""])
        self.say_result(opts, found.to_dict, verification_lines(found))
        self.exitcode = PROBLEMS if found.problems else 0
