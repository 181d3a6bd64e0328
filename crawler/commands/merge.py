"""``crawl-once merge DIR ... OUT``: make one crawl directory of many."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, crawl_folder, refuse_urls
from neardup.plurals import many, noun

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Callable, Iterator

    from crawler.maintenance.merge.merging import Merged
    from crawler.pages.shared_verdicts import FleetKeptText

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
    yield ""
    yield f"crawl-once verify {folder} checks it; crawl-once report {folder} says more"


def _lost(merged: Merged) -> Iterator[str]:
    if not merged.lost:
        return
    then = "queued, to be fetched again" if merged.queued else "to be fetched again"
    lost = noun(len(merged.lost), "duplicate")
    yield f"{len(merged.lost):>11,}  {lost} whose text is stored nowhere: {then}"
    for url in merged.lost[:_MAX_LOST]:
        yield f"             {url}"
    if len(merged.lost) > _MAX_LOST:
        yield f"             and {len(merged.lost) - _MAX_LOST:,} more (--json names all)"


class MergeCommand(PlainCommand):
    """Exit status: 0 all is there, 1 texts are lost, 2 it cannot be made."""

    usage = "[--redis URL [--name NAME]] [--json] DIR [DIR ...] OUT"
    summary = "Make one crawl directory of several, of a fleet's workers or of any crawls"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--redis",
            metavar="URL",
            help="take texts of a worker whose directory is lost from the Redis of its fleet",
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
        merged = merge(folder, folders, self.progress, _kept_texts(opts))
        self.say_result(opts, merged.to_dict, merged_lines(merged, str(folder)))
        self.exitcode = LOST if merged.lost else 0


def _kept_texts(opts: argparse.Namespace) -> Callable[[], AsyncIterator[FleetKeptText]] | None:
    """Return a reader of the texts of a fleet, which must exist; None without one."""
    if opts.redis is None:
        if opts.name is not None:
            raise CommandError("--name names a fleet; give its --redis URL too")
        return None
    from crawler.fleet.deduplication import kept_texts  # needs Redis' client
    from crawler.fleet.status import at, look

    name = at(opts.redis, opts.name, look).name
    return lambda: kept_texts(opts.redis, name)
