"""``crawl-once fleet URL``: report the state of a fleet of crawlers."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from crawler.console.command_line import Command
from crawler.console.escaping import agrees, plain, say
from crawler.console.options import JSON, CommandError, flag, option
from crawler.console.progress import clock, is_drawable
from crawler.frontier.redis import FleetError
from crawler.suggestions import did_you_mean
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from crawler.fleet.board import FleetStatus

LOOK_SECS = 1.0
PACE_SECS = 60.0


def status_lines(status: FleetStatus, where: str, paces: Paces | None = None) -> Iterator[str]:
    """Yield all lines of ``crawl-once fleet``.

    Args:
        status: The state of the fleet.
        where: Its Redis.
        paces: The pages a second, where the fleet is watched.
    """
    from rich.filesize import decimal

    counts = status.counts
    yield f"fleet {status.name} at {where}: {status.identity.get('plan', '')}"
    pace = "" if paces is None else _pace_words(status, paces.total)
    yield f"  {_stands(status)}, {many(status.notices.pages, 'page')} fetched{pace}"
    yield (
        f"  {many(counts.seen, 'URL')} seen, {many(counts.done, 'request')} done, "
        f"{counts.failed:,} broken at every try, {counts.parked:,} skipped by learned rules"
    )
    if counts.unreadable:
        yield f"  {many(counts.unreadable, 'record')} of other programs put aside"
    yield f"  {many(counts.hosts, 'host')} waiting, being asked or resting"
    yield f"  {decimal(status.memory_bytes)} of memory used by that Redis"
    yield ""
    yield f"{many(len(status.workers), 'worker')}:" if status.workers else "no worker is running"
    for name, load in status.workers.items():
        pages = many(status.pages_of_workers.get(name, 0), "page")
        pace = "" if paces is None else f", {paces.of(name):.1f} a second"
        yield f"  {name:<32} {pages}{pace}, requests: {load.leased:,}, hosts: {load.hosts:,}"
    if status.notices.parameters:
        yield ""
        yield f"pages are judged by ({status.notices.origin}):"
        for name, value in json.loads(status.notices.parameters).items():
            yield f"  {name:<18} {value}"
    if status.rules:
        yield ""
        yield f"learned URL rules that hold: {len(status.rules):,}"


def _stands(status: FleetStatus) -> str:
    counts = status.counts
    queued = counts.waiting + counts.leased
    if counts.is_finished:
        return "finished"
    paused = "paused, " if status.notices.is_paused else ""
    return f"{paused}{queued:,} queued, {counts.leased:,} under way"


def _pace_words(status: FleetStatus, pace: float) -> str:
    """Return the pages a second of all workers, and how long what is queued takes at that."""
    left = status.counts.waiting + status.counts.leased
    eta = f", about {clock(round(left / pace))} left" if pace and left else ""
    return f", {pace:.1f} a second{eta}"


@dataclass(frozen=True)
class _FleetOptions:
    name: str | None = option("NAME", "name of the fleet, where Redis holds several")
    json: bool = flag(JSON)
    forget: str | None = option(
        "NAME", "delete what Redis holds of a fleet; directories of workers stay as they are"
    )
    yes: bool = flag("do so without asking")


class FleetCommand(Command):
    """Reads and writes Redis alone; workers hear of it within a second."""

    options = _FleetOptions
    usage = (
        "[--name NAME] [--json | --forget NAME [--yes]] REDIS_URL "
        "[pause | resume | stop | remove-worker WORKER]"
    )
    summary = "Report the state of a fleet of crawlers on one Redis, pause or stop it, or delete it"
    description = (
        "Report the state of a fleet of crawlers: on a terminal each second as long as workers run "
        "(Ctrl-C ends the report alone), elsewhere once. pause lets no worker request "
        "anything until resume, also those that begin meanwhile. stop lets all workers end as by "
        "Ctrl-C, and remove-worker one, whose hosts the others take over; the same command of a "
        "crawl joins again."
    )

    def act(self, args: list[str], opts: _FleetOptions) -> None:
        from crawler.fleet.board import at, look  # needs Redis' client
        from neardup.storage.redis.connecting import place_of

        if not args:
            raise CommandError("the URL of one Redis is needed, such as redis://127.0.0.1:6379/0")
        url, *order = args
        if opts.forget is not None and not order:
            _forget(url, opts.forget, is_sure=opts.yes)
        elif order:
            _give(url, opts.name, order, has_options=opts.json or opts.forget is not None)
        elif opts.json or not is_drawable(sys.stdout):
            status = at(url, opts.name, look)
            self.say_result(opts, status.to_dict, status_lines(status, place_of(url)))
        else:
            with suppress(KeyboardInterrupt):
                _watch(url, opts.name, place_of(url))


_ORDERS = {"pause": 0, "resume": 0, "stop": 0, "remove-worker": 1}
"""Orders by name, with the number of their arguments."""


def _give(url: str, name: str | None, order: list[str], *, has_options: bool) -> None:
    """Give an order to the workers of a fleet."""
    from crawler.fleet.board import at, pause, stop  # needs Redis' client

    verb, *named = order
    if verb not in _ORDERS:
        raise CommandError(
            f"no {verb}{did_you_mean(verb, _ORDERS)}; there are {', '.join(_ORDERS)}"
        )
    if len(named) != _ORDERS[verb]:
        wanted = "the name of one worker" if _ORDERS[verb] else "nothing more"
        raise CommandError(f"{verb} takes {wanted}, got {' '.join(named) or 'none'}")
    if has_options:
        raise CommandError(f"{verb} goes neither with --json nor with --forget")
    if verb in {"pause", "resume"}:
        at(url, name, partial(pause, is_paused=verb == "pause"))
        say("paused: nothing more is requested" if verb == "pause" else "it goes on")
        return
    asked = at(url, name, partial(stop, worker=next(iter(named), None)))
    for worker in asked:
        say(f"told to end when what is under way is finished: {worker}")
    if not asked:
        say("no worker is running")


def _watch(url: str, name: str | None, where: str) -> None:
    """Show the state of a fleet until no worker runs, and print it at the end."""
    from rich.live import Live
    from rich.text import Text

    from crawler.fleet.board import at, look  # needs Redis' client

    async def show(server: Any, name: str) -> FleetStatus:
        paces = Paces()
        with Live(auto_refresh=False, transient=True) as live:
            while True:
                status = await look(server, name)
                if not status.workers:
                    return status
                paces.note(time.monotonic(), status.pages_of_workers)
                # A name is whole, since remove-worker takes it, and none is markup.
                lines = map(plain, status_lines(status, where, paces))
                live.update(Text("\n".join(lines), overflow="fold"), refresh=True)
                await asyncio.sleep(LOOK_SECS)

    for line in status_lines(at(url, name, show), where):
        say(line)


class Paces:
    """The pages a second of each worker and of all, in the last minute."""

    def __init__(self) -> None:
        self._looks: deque[tuple[float, Mapping[str, int]]] = deque()

    def note(self, now: float, pages: Mapping[str, int]) -> None:
        """Note the pages of all workers at a moment, in seconds."""
        self._looks.append((now, pages))
        while now - self._looks[0][0] > PACE_SECS:
            self._looks.popleft()

    def of(self, worker: str) -> float:
        return self._between(lambda pages: pages.get(worker, 0))

    @property
    def total(self) -> float:
        return self._between(lambda pages: sum(pages.values()))

    def _between(self, count: Callable[[Mapping[str, int]], int]) -> float:
        (since, before), (now, pages) = self._looks[0], self._looks[-1]
        return max(0.0, count(pages) - count(before)) / (now - since) if now > since else 0.0


def _forget(url: str, name: str, *, is_sure: bool) -> None:
    from crawler.fleet.board import at, forget  # needs Redis' client
    from crawler.fleet.membership import checked_name

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
    return agrees("delete it?")
