"""``crawl-once tune DIR max_distance=5``: judge later pages by other parameters."""

from __future__ import annotations

import json
import re
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, one_directory, refuse_urls
from neardup.errors import ParameterError
from neardup.plurals import noun

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from crawler.pages.live_parameters import Tuned, TuningReport

ORIGIN = "tune"

_REDIS = re.compile(r"(rediss?|redis\+sentinel|unix)://")

_SWITCHES = frozenset({"verify", "compare_names", "ignore_boilerplate", "drop_contained"})
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def tuning_lines(report: TuningReport, folder: str) -> Iterator[str]:
    """Yield the lines of a report: present and earlier parameters, and pages judged by each."""
    from crawler.pages.export import iso_time
    from crawler.pages.live_parameters import in_words, to_json
    from neardup.parameters import CONFIRMED

    if not report.history:
        yield f"{folder}: no crawl has begun in it yet"
        return
    now = report.history[-1]
    yield from _parameter_lines(json.loads(to_json(now.parameters)))
    features = now.parameters.fingerprint_features
    if not now.parameters.verify and features == CONFIRMED:
        yield (
            f"  fingerprints of {features} need confirmation: by their distance alone distinct "
            "pages are dropped; verify=True and crawl-once rejudge undo it"
        )
    yield ""
    before: Tuned | None = None
    for tuned, pages in zip(report.history, report.pages, strict=True):
        said = (
            "with the parameters that the crawl began with"
            if before is None
            else f"after {tuned.origin}: {in_words(before.parameters, tuned.parameters)}"
        )
        since = iso_time(tuned.since)[:19].replace("T", " ")
        judged = f"{noun(pages, 'page')} judged since {since} UTC"
        yield f"{pages:>11,} {judged}, {said}"
        before = tuned
    stale = sum(report.pages[:-1])
    if stale:
        yield ""
        yield f"pages that would be judged otherwise now: crawl-once rejudge {folder} --dry-run"


class TuneCommand(PlainCommand):
    """Changes parameters, also of a running crawl, which adopts them within a second."""

    usage = "[--json] DIR|REDIS_URL [--name FLEET] [NAME=VALUE ...]"
    summary = "Change when a crawl calls pages duplicates, also while it is running"
    description = (
        "Print the parameters by which a crawl calls pages duplicates, and the earlier ones, or "
        "change them for pages to come. max_distance=0..8 is bits, min_similarity=0..1 is Jaccard "
        "similarity, min_words=1.. is tokens; verify, compare_names, ignore_boilerplate "
        "and drop_contained are True or False. "
        "crawl-once rejudge applies them to the pages that are there. The URL of a Redis, or the "
        "directory of one worker, means the whole fleet."
    )

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--name", metavar="FLEET", help="name of the fleet, where a Redis holds several"
        )

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Change parameters of a crawl directory, or print them."""
        from crawler.pages.live_parameters import tune, tuning_report
        from crawler.storage.database import open_for_reading

        is_fleet = bool(args) and _REDIS.match(args[0]) is not None
        if not is_fleet:
            refuse_urls(args[:1])
        changes = _changes(args[1:])
        if is_fleet:
            # Needs Redis' client.
            from crawler.fleet.news import tune_fleet

            chosen = tune_fleet(args[0], opts.name, changes, ORIGIN)
            self.say_result(opts, partial(dict, current=chosen), _parameter_lines(chosen))
            return
        folder = one_directory(args[:1])
        if changes:
            tune(Path(folder), changes, ORIGIN)
        with closing(open_for_reading(Path(folder))) as connection:
            report = tuning_report(connection)
        self.say_result(opts, report.to_dict, tuning_lines(report, folder))


def _parameter_lines(parameters: dict[str, object]) -> Iterator[str]:
    yield from (f"  {name:<18} {value}" for name, value in parameters.items())


def _changes(arguments: list[str]) -> dict[str, object]:
    changes: dict[str, object] = {}
    for name, value in map(_assignment, arguments):
        if name in changes:
            raise CommandError(f"{name} is given twice")
        changes[name] = value
    return changes


def _assignment(argument: str) -> tuple[str, object]:
    from crawler.pages.live_parameters import check_name

    name, equals, value = argument.partition("=")
    if not equals:
        raise CommandError(f"NAME=VALUE expected, such as max_distance=5, got {argument}")
    check_name(name)
    if name in _SWITCHES:
        if value.lower() not in _WORDS:
            raise ParameterError(f"{name} must be True or False, got {value!r}")
        return name, _WORDS[value.lower()]
    try:
        return name, float(value) if name == "min_similarity" else int(value)
    except ValueError:
        kind = "a number" if name == "min_similarity" else "a whole number"
        raise ParameterError(f"{name} must be {kind}, got {value!r}") from None
