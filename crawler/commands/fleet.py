"""``scrapy fleet URL``: report the state of a fleet of crawlers."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from crawler.console.command_line import CommandError, PlainCommand, refuse_options
from crawler.console.escaping import say, say_json
from crawler.frontier.redis.workers import FleetError
from neardup.errors import ServerError

if TYPE_CHECKING:
    import argparse


class FleetCommand(PlainCommand):
    """Reads Redis alone; no worker is contacted."""

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return "[--name NAME] [--json | --forget NAME [--yes]] REDIS_URL"

    def short_desc(self) -> str:
        """Return the line for the list of commands."""
        return "Say how a fleet of crawlers on one Redis stands, or forget it"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this command."""
        super().add_options(parser)
        parser.add_argument("--name", metavar="NAME", help="of the fleet, where there are several")
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--forget",
            metavar="NAME",
            help="delete what Redis holds of a fleet; directories of workers stay as they are",
        )
        parser.add_argument("--yes", action="store_true", help="do so without asking")

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the state of a fleet, or delete it."""
        refuse_options(args)
        if len(args) != 1:
            raise CommandError("one Redis is needed, such as redis://127.0.0.1:6379/0")
        try:
            if opts.forget is not None:
                _forget(args[0], opts.forget, is_sure=opts.yes)
            else:
                _show(args[0], opts)
        except (FleetError, ServerError) as error:
            raise CommandError(str(error)) from None


def _show(url: str, opts: argparse.Namespace) -> None:
    from crawler.console.fleet_text import status_lines  # noqa: PLC0415
    from crawler.fleet.membership import shown_url  # noqa: PLC0415
    from crawler.fleet.status import at, look  # noqa: PLC0415  # needs Redis' client

    status = at(url, opts.name, look)
    if opts.json:
        say_json(json.dumps(status.to_dict(), indent=2))
        return
    for line in status_lines(status, shown_url(url)):
        say(line)


def _forget(url: str, name: str, *, is_sure: bool) -> None:
    from crawler.fleet.membership import checked_name  # noqa: PLC0415
    from crawler.fleet.status import at, forget  # noqa: PLC0415  # needs Redis' client

    async def act(server: Any, name: str) -> int | None:
        return await forget(server) if is_sure or _agrees(name) else None

    deleted = at(url, checked_name(name), act)
    if deleted == 0:
        raise FleetError(f"no fleet {name}: nothing was deleted")
    if deleted is None:
        say("nothing was deleted")
    else:
        say(f"the fleet {name} is forgotten: {deleted:,} keys deleted")


def _agrees(name: str) -> bool:
    if not sys.stdin or not sys.stdin.isatty():
        raise CommandError("--forget deletes for good; give --yes too")
    say(f"everything that this Redis holds of the fleet {name}; directories of workers stay")
    return input("delete it? [y/N] ").strip().lower() in {"y", "yes"}
