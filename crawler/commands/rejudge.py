"""``crawl-once rejudge DIR``: judge all pages of a crawl again by its present parameters."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import PlainCommand, one_directory
from neardup.plurals import many, noun

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from crawler.maintenance.rejudge.rejudging import Rejudgement


def rejudgement_lines(
    found: Rejudgement, folder: str, *, dry_run: bool, has_feeds: bool
) -> Iterator[str]:
    """Yield the lines of a report: the changes, and what to do next."""
    from crawler.console.count_tables import example_lines

    kept = f"{found.kept:,} {'would be kept' if dry_run else 'kept'}"
    yield f"{many(found.judged, 'page')} judged again: {kept}, {found.kept_before:,} before"
    if not found.changes:
        yield "nothing changes"
        return
    yield ""
    if found.freed:
        others = many(found.freed - found.freed_kept, "duplicate")
        was = noun(found.freed, "wall or soft 404", "walls or soft 404s")
        yield f"{found.freed:>11,}  {was} before: {found.freed_kept:,} kept now, {others}"
        yield from example_lines(found.freed_examples, found.freed_kept)
    yield f"{found.now_kept:>11,}  {noun(found.now_kept, 'duplicate')} before, kept now"
    yield from example_lines(found.kept_examples, found.now_kept)
    yield f"{found.now_dropped:>11,}  kept before, {noun(found.now_dropped, 'duplicate')} now"
    yield from example_lines(found.dropped_examples, found.now_dropped)
    still = noun(found.otherwise, "duplicate")
    yield f"{found.otherwise:>11,}  {still} as before, of another page or by another measure"
    yield from _to_fetch(found, dry_run=dry_run)
    yield ""
    if dry_run:
        yield "nothing was changed; without --dry-run, rejudge makes these changes"
    elif has_feeds:
        yield f"feeds hold what was kept before: export again with crawl-once pages {folder}"


def _to_fetch(found: Rejudgement, *, dry_run: bool) -> Iterator[str]:
    if not found.to_fetch:
        return
    if not found.can_fetch:
        done = "fetched again by the next visit"
    else:
        done = f"{'would be queued' if dry_run else 'queued'}, to be fetched again"
    pages = noun(found.to_fetch, "page")
    yield f"{found.to_fetch:>11,}  {pages} whose text is stored nowhere: {done}"


class RejudgeCommand(PlainCommand):
    """Judges the pages of a crawl that is not running."""

    after_interrupt = "interrupted; nothing was changed"
    usage = "[--dry-run] [--no-wall URL] [--json] DIR"
    summary = "Judge all pages of a crawl again by its present parameters (crawl-once tune)"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would change, and change nothing"
        )
        parser.add_argument(
            "--no-wall",
            action="append",
            default=[],
            metavar="URL",
            help="a page that was taken for a wall or a soft 404 and is none: judge it, and all "
            "that answered the same, by their texts, now and in later visits (may be repeated)",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Judge the pages of a crawl directory again."""
        folder = one_directory(args)
        from crawler.maintenance.crawl_directory import CrawlDirectory
        from crawler.maintenance.rejudge.rejudging import rejudge
        from crawler.storage import meta_names

        with closing(CrawlDirectory(Path(folder), only_reads=opts.dry_run)) as directory:
            has_feeds = meta_names.FEEDS in directory.meta
            found = rejudge(directory, self.progress, dry_run=opts.dry_run, no_walls=opts.no_wall)
        lines = rejudgement_lines(found, folder, dry_run=opts.dry_run, has_feeds=has_feeds)
        self.say_result(opts, found.to_dict, lines)
