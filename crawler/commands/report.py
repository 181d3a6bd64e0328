"""``crawl-once report DIR``: report the pages and duplicates of a crawl."""

from __future__ import annotations

import re
import sys
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler.console.command_line import CommandError, PlainCommand, checked_file, one_directory

if TYPE_CHECKING:
    import argparse
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from crawler.frontier.file_links import LinkCount
    from crawler.maintenance.crawl_report import SelectionReport
    from crawler.url_rules.render_kinds import RenderKind

_ENDINGS = (".html", ".htm")
_MAX_EXAMPLES = 100  # of a fault, in the page
_LINK = re.compile(r"https?://[^/]")  # a URL that a browser may follow from the page


class ReportCommand(PlainCommand):
    """Prints a report, also while the crawl is running."""

    usage = "[--links | --rendering] [--json | --html FILE] DIR"
    summary = "Say what a crawl found, also while it runs: verdicts, clusters, what was saved"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--links", action="store_true", help="say what links of each kind led to, and no more"
        )
        parser.add_argument(
            "--rendering",
            action="store_true",
            help="say which kinds of URLs show more in a browser, and no more",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--html",
            metavar="FILE",
            help="write a page to read and to print, with what crawl-once links finds",
        )
        from crawler.console.page_options import add_page_options

        add_page_options(parser)

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the report of a crawl directory."""
        from crawler.console.page_options import selection_words

        if opts.links and opts.rendering:
            raise CommandError("--links and --rendering cannot be combined; give one of them")
        if opts.html is not None:
            _check_page(opts.html, args)
        folder = one_directory(args)
        if opts.html is not None:
            self._write_page(folder, opts)
            return
        if words := selection_words(opts):
            self._report_selection(folder, words, opts)
            return
        from crawler.console.count_tables import for_terminal, link_lines, rendering_lines
        from crawler.console.report_text import report_lines
        from crawler.frontier.file_links import read_links
        from crawler.maintenance.crawl_report import make_report
        from crawler.storage.database import open_for_reading
        from crawler.url_rules.render_kinds import read_kinds

        with closing(open_for_reading(Path(folder))) as connection:
            if opts.links:
                links = read_links(connection)
                self.say_result(opts, partial(_plain, links), link_lines(links))
                return
            if opts.rendering:
                kinds = read_kinds(connection)
                self.say_result(opts, partial(_plain, kinds), rendering_lines(kinds))
                return
            report = make_report(connection)
        lines = for_terminal(report_lines(report, folder), sys.stdout)
        self.say_result(opts, partial(asdict, report), lines)

    def _write_page(self, folder: str, opts: argparse.Namespace) -> None:
        """Write the report of the whole crawl as one HTML file."""
        from crawler.console.page_options import selection_words

        if opts.json or opts.links or opts.rendering or selection_words(opts):
            raise CommandError("--html writes the report of a whole crawl; leave the others out")
        from crawler.console.escaping import say, whole_file
        from crawler.storage.database import open_for_reading

        to = checked_file(opts.html, "--html")
        self.after_interrupt = f"interrupted; nothing was written to {to}"
        with closing(open_for_reading(Path(folder))) as connection:
            page = html_report(connection, folder, self.progress)
        with whole_file(to) as file:
            file.write(page.encode("utf-8", "replace"))
        if to != "-":
            say(f"report in {to}", to_stderr=True)

    def _report_selection(self, folder: str, words: str, opts: argparse.Namespace) -> None:
        """Print the counts of chosen pages alone: all else is of the crawl as a whole."""
        from crawler.console.page_options import page_selection
        from crawler.maintenance.crawl_report import report_selection
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


def _plain(counts: Mapping[str, LinkCount] | Mapping[str, RenderKind]) -> dict[str, Any]:
    return {kind: count._asdict() for kind, count in counts.items()}


def selection_lines(found: SelectionReport, folder: str, words: str) -> Iterator[str]:
    """Yield the counts of chosen pages.

    Args:
        found: The counts.
        folder: The crawl directory.
        words: The options that chose the pages.
    """
    from rich.filesize import decimal

    from crawler.pages.export import iso_time

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

    from crawler.console.escaping import template_environment
    from crawler.maintenance.crawl_report import make_report, report_selection
    from crawler.maintenance.fault import FAULTS
    from crawler.maintenance.site_faults import find_faults
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
