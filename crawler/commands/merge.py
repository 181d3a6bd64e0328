"""``scrapy merge OUT DIR ...``: make one crawl directory of many."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, refuse_options
from crawler.console.escaping import say, say_json
from crawler.console.verify_text import TerminalWatch
from crawler.frontier.redis.workers import FleetError
from crawler.maintenance.merge.merging import merge
from crawler.storage.errors import JobError
from neardup import NearDupError

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Callable, Iterator

    from crawler.maintenance.merge.merging import Merged
    from crawler.pages.shared_verdicts import FleetKeptText

_MAX_LOST = 20

LOST = 1
INTERRUPTED = 130


def merged_lines(merged: Merged, folder: str) -> Iterator[str]:
    """Yield the lines of a report: numbers of pages, of pages fetched twice, and lost texts."""
    yield f"{folder}: {merged.pages:,} URLs of {merged.directories:,} directories"
    yield ""
    yield f"{merged.kept:>11,}  pages kept"
    yield f"{merged.duplicates:>11,}  duplicates"
    if merged.fetched_twice:
        yield f"{merged.fetched_twice:>11,}  pages that two of the crawls had fetched: there once"
    if merged.orphans:
        yield f"{merged.orphans:>11,}  duplicates of what no crawl has: judged again"
    yield from _lost(merged)
    yield ""
    yield f"scrapy verify {folder} checks it; scrapy report {folder} says more"


def _lost(merged: Merged) -> Iterator[str]:
    if not merged.lost:
        return
    then = "queued, to be fetched again" if merged.queued else "to be fetched again"
    yield f"{len(merged.lost):>11,}  duplicates of which nobody holds the text: {then}"
    for url in merged.lost[:_MAX_LOST]:
        yield f"             {url}"
    if len(merged.lost) > _MAX_LOST:
        yield f"             and {len(merged.lost) - _MAX_LOST:,} more (--json names all)"


class MergeCommand(PlainCommand):
    """Exit status: 0 all is there, 1 texts are lost, 2 it cannot be made."""

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return "[--redis URL [--name FLEET]] [--json] OUT DIR [DIR ...]"

    def short_desc(self) -> str:
        """Return the line for the list of commands."""
        return "Make one crawl directory of those of a fleet's workers, or of any crawls"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this command."""
        super().add_options(parser)
        parser.add_argument(
            "--redis",
            metavar="URL",
            help="of the fleet, for texts that were kept by a worker whose directory is lost",
        )
        parser.add_argument("--name", help="of the fleet, where the Redis holds several")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Make the directory, which is there when it is whole."""
        refuse_options(args)
        if len(args) < 2:
            raise CommandError("a new directory and one of a crawl are needed, at least")
        folder, *folders = map(Path, args)
        watch = TerminalWatch()
        try:
            merged = merge(folder, folders, watch, _kept_texts(opts))
        except BrokenPipeError:
            raise
        except (FleetError, JobError, NearDupError, OSError) as error:
            watch.end()
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            watch.end()
            say(f"scrapy merge: broken off; there is no {folder}", to_stderr=True)
            self.exitcode = INTERRUPTED
            return
        watch.end()
        if opts.json:
            say_json(json.dumps(merged.to_dict(), indent=2, ensure_ascii=False))
        else:
            for line in merged_lines(merged, str(folder)):
                say(line)
        self.exitcode = LOST if merged.lost else 0


def _kept_texts(opts: argparse.Namespace) -> Callable[[], AsyncIterator[FleetKeptText]] | None:
    """Return a reader of the texts of a fleet, which must exist; None without one."""
    if opts.redis is None:
        if opts.name is not None:
            raise CommandError("--name is of a fleet; give its --redis URL too")
        return None
    from crawler.fleet.deduplication import kept_texts  # noqa: PLC0415  # needs Redis' client
    from crawler.fleet.status import at, look  # noqa: PLC0415

    name = at(opts.redis, opts.name, look).name
    return lambda: kept_texts(opts.redis, name)
