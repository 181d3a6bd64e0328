"""``crawl-once fleet URL``: report the state of a fleet of crawlers."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from crawler.console.command_line import CommandError, PlainCommand
from crawler.console.escaping import say
from crawler.frontier.redis import FleetError
from neardup.plurals import many

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from crawler.fleet.status import FleetStatus
    from crawler.frontier.redis.counts import Counts


def status_lines(status: FleetStatus, where: str) -> Iterator[str]:
    """Yield all lines of ``crawl-once fleet``."""
    from rich.filesize import decimal

    counts = status.counts
    yield f"fleet {status.name} at {where}: {status.identity.get('plan', '')}"
    yield f"  {_stands(counts)}, {many(status.notices.pages, 'page')} fetched"
    yield (
        f"  {many(counts.seen, 'URL')} seen, {many(counts.done, 'request')} done, "
        f"{counts.failed:,} broken at every try, {counts.parked:,} skipped by learned rules"
    )
    yield f"  {many(counts.hosts, 'host')} waiting, being asked or resting"
    yield f"  {decimal(status.memory_bytes)} of memory used by that Redis"
    yield ""
    yield f"{many(len(status.workers), 'worker')}:" if status.workers else "no worker is running"
    for name, held in status.workers.items():
        yield f"  {name:<32} requests: {held.leased:,}, hosts: {held.hosts:,}"
    if status.notices.parameters:
        yield ""
        yield f"pages are judged by ({status.notices.origin}):"
        for name, value in json.loads(status.notices.parameters).items():
            yield f"  {name:<18} {value}"
    if status.rules:
        yield ""
        yield f"learned URL rules that hold: {len(status.rules):,}"


def _stands(counts: Counts) -> str:
    queued = counts.waiting + counts.leased
    return "finished" if counts.is_finished else f"{queued:,} queued, {counts.leased:,} under way"


class FleetCommand(PlainCommand):
    """Reads Redis alone; no worker is contacted."""

    usage = "[--name NAME] [--json | --forget NAME [--yes]] REDIS_URL"
    summary = "Report the state of a fleet of crawlers on one Redis, or delete it there"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--name", metavar="NAME", help="name of the fleet, where Redis holds several"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--forget",
            metavar="NAME",
            help="delete what Redis holds of a fleet; directories of workers stay as they are",
        )
        parser.add_argument("--yes", action="store_true", help="do so without asking")

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the state of a fleet, or delete it."""
        from crawler.fleet.membership import shown_url
        from crawler.fleet.status import at, look  # needs Redis' client

        if len(args) != 1:
            raise CommandError("the URL of one Redis is needed, such as redis://127.0.0.1:6379/0")
        if opts.forget is not None:
            _forget(args[0], opts.forget, is_sure=opts.yes)
            return
        status = at(args[0], opts.name, look)
        self.say_result(opts, status.to_dict, status_lines(status, shown_url(args[0])))


def _forget(url: str, name: str, *, is_sure: bool) -> None:
    from crawler.fleet.membership import checked_name
    from crawler.fleet.status import at, forget  # needs Redis' client

    async def act(server: Any, name: str) -> int | None:
        return await forget(server) if is_sure or _agrees(name) else None

    deleted = at(url, checked_name(name), act)
    if deleted == 0:
        raise FleetError(f"no fleet {name}: nothing was deleted")
    if deleted is None:
        say("nothing was deleted")
    else:
        say(f"the fleet {name} is forgotten: {many(deleted, 'key')} deleted")


def _agrees(name: str) -> bool:
    if not sys.stdin or not sys.stdin.isatty():
        raise CommandError("--forget deletes for good; give --yes too")
    say(f"this deletes all that Redis holds of the fleet {name}; directories of workers stay")
    return input("delete it? [y/N] ").strip().lower() in {"y", "yes"}
