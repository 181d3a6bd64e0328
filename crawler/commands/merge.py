"""``crawl-once merge DIR ... OUT``: make one crawl directory of many."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, crawl_folder, refuse_urls
from neardup.plurals import many, noun

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from crawler.maintenance.merge.lost_originals import FleetRecord
    from crawler.maintenance.merge.merging import Merged

_MAX_LOST = 20

LOST = 1


def merged_lines(merged: Merged, folder: str) -> Iterator[str]:
    """Yield the lines of a report: numbers of pages, of pages fetched twice, and lost texts."""
    made_of = many(merged.directories, "directory", "directories")
    yield f"{folder}: {many(merged.pages, 'URL')} of {made_of}"
    yield ""
    yield f"{merged.kept:>11,}  {noun(merged.kept, 'page')} kept"
    yield f"{merged.duplicates:>11,}  {noun(merged.duplicates, 'duplicate')}"
    if merged.fetched_twice:
        twice = noun(merged.fetched_twice, "page")
        yield f"{merged.fetched_twice:>11,}  {twice} fetched by several of the crawls: stored once"
    if merged.orphans:
        orphans = noun(merged.orphans, "duplicate")
        yield f"{merged.orphans:>11,}  {orphans} of what none of the crawls has: judged again"
    yield from _lost(merged)
    yield from _missing(merged, folder)
    yield ""
    yield f"crawl-once verify {folder} checks it; crawl-once report {folder} says more"


def _lost(merged: Merged) -> Iterator[str]:
    if not merged.lost:
        return
    from crawler.console.count_tables import example_lines

    then = "queued, to be fetched again" if merged.queued else "to be fetched again"
    lost = noun(len(merged.lost), "duplicate")
    yield f"{len(merged.lost):>11,}  {lost} whose text is stored nowhere (--json names all): {then}"
    yield from example_lines(merged.lost[:_MAX_LOST], len(merged.lost))


def _missing(merged: Merged, folder: str) -> Iterator[str]:
    """Yield the workers without a directory, what was restored, and how to get the rest."""
    for name, pages in sorted(merged.missing.items()):
        yield f"{pages:>11,}  {noun(pages, 'page')} fetched by {name}, whose directory is missing"
    if merged.restored:
        restored = noun(merged.restored, "page")
        yield f"{merged.restored:>11,}  {restored} restored from the texts of the fleet"
    if merged.unasked_fleet is not None:
        yield f"{'':>11}  made by workers of the fleet {merged.unasked_fleet}:"
        yield f"{'':>11}  merge --redis URL tells whether the directory of one is missing"
    if merged.missing:
        yield f"{'':>11}  crawl-once URL {folder} --revisit yes finds the others by their links"


class MergeCommand(PlainCommand):
    """Exit status: 0 all is there, 1 texts are lost or workers are missing, 2 it cannot be made."""

    usage = "[--redis URL [--name NAME]] [--json] DIR [DIR ...] OUT"
    summary = "Make one crawl directory of several, of a fleet's workers or of any crawls"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--redis",
            metavar="URL",
            help="check that no worker of that fleet is missing, and restore what a lost one kept",
        )
        parser.add_argument(
            "--name", metavar="NAME", help="name of the fleet, where the Redis holds several"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Make the directory, which is there when it is whole."""
        if len(args) < 2:
            raise CommandError("at least one crawl directory and a new one are needed")
        refuse_urls(args)
        from crawler.maintenance.merge.merging import merge

        *folders, folder = [crawl_folder(Path(word)) for word in args[:-1]] + [Path(args[-1])]
        self.after_interrupt = f"interrupted; {folder} was not made"
        merged = merge(folder, folders, self.progress, _record(opts))
        self.say_result(opts, merged.to_dict, merged_lines(merged, str(folder)))
        self.exitcode = 0 if merged.is_whole else LOST


def _record(opts: argparse.Namespace) -> FleetRecord | None:
    """Return the record of a fleet, which must exist; None without one."""
    if opts.redis is None:
        if opts.name is not None:
            raise CommandError("--name names a fleet; give its --redis URL too")
        return None
    from crawler.fleet.board import at, look
    from crawler.fleet.deduplication import kept_texts  # needs Redis' client
    from crawler.maintenance.merge.lost_originals import FleetRecord

    status = at(opts.redis, opts.name, look)
    return FleetRecord(lambda: kept_texts(opts.redis, status.name), status.pages_of_workers)
