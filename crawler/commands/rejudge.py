"""``crawl-once rejudge DIR``: judge all pages of a crawl again by its present parameters."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import PlainCommand, one_directory

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from crawler.maintenance.rejudge.rejudging import Rejudgement


def rejudgement_lines(found: Rejudgement, folder: str, *, dry_run: bool) -> Iterator[str]:
    """Yield the lines of a report: the changes, and what to do next."""
    kept = f"{found.kept:,} {'would be kept' if dry_run else 'kept'}"
    yield f"{found.judged:,} pages judged again: {kept}, {found.kept_before:,} before"
    if not found.changes:
        yield "nothing changes"
        return
    yield ""
    if found.freed:
        others = f"{found.freed_kept:,} kept now, {found.freed - found.freed_kept:,} duplicates"
        yield f"{found.freed:>11,}  walls or soft 404s before: {others}"
        yield from _urls(found.freed_examples, found.freed_kept)
    yield f"{found.now_kept:>11,}  duplicates before, kept now"
    yield from _urls(found.kept_examples, found.now_kept)
    yield f"{found.now_dropped:>11,}  kept before, duplicates now"
    yield from _urls(found.dropped_examples, found.now_dropped)
    yield f"{found.otherwise:>11,}  duplicates as before, of another page or by another measure"
    yield from _to_fetch(found, dry_run=dry_run)
    yield ""
    if dry_run:
        yield "nothing was changed; without --dry-run, rejudge makes these changes"
    else:
        yield f"feeds hold what was kept before: export anew with crawl-once pages {folder}"


def _to_fetch(found: Rejudgement, *, dry_run: bool) -> Iterator[str]:
    if not found.to_fetch:
        return
    if not found.can_fetch:
        yield f"{found.to_fetch:>11,}  whose text is stored nowhere: the next visit reads them"
    else:
        done = "would be queued" if dry_run else "queued"
        yield f"{found.to_fetch:>11,}  whose text is stored nowhere: {done}, to be fetched again"


def _urls(urls: tuple[str, ...], count: int) -> Iterator[str]:
    for url in urls:
        yield f"             {url}"
    if count > len(urls):
        yield f"             and {count - len(urls):,} more"


class RejudgeCommand(PlainCommand):
    """Judges the pages of a crawl that is not running."""

    after_interrupt = "broken off; all is as it was before"
    usage = "[--dry-run] [--no-wall URL] [--json] DIR"
    summary = "Judge all pages of a crawl again by its parameters of today (crawl-once tune)"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would change, and change nothing"
        )
        parser.add_argument(
            "--no-wall",
            action="append",
            default=[],
            metavar="URL",
            help="what answered there is no wall and no soft 404, nor is it at other URLs: judge "
            "all of its pages by their texts, now and in later visits (may be given again)",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Judge the pages of a crawl directory again."""
        folder = one_directory(args)
        from crawler.maintenance.crawl_directory import CrawlDirectory
        from crawler.maintenance.rejudge.rejudging import rejudge

        with closing(CrawlDirectory(Path(folder))) as directory:
            found = rejudge(directory, self.progress, dry_run=opts.dry_run, no_walls=opts.no_wall)
        lines = rejudgement_lines(found, folder, dry_run=opts.dry_run)
        self.say_result(opts, found.to_dict, lines)
