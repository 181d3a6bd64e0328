"""``crawl-once tune``, ``rejudge`` and ``merge``: judge pages otherwise, or of many crawls."""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import Command, crawl_folder, one_directory, refuse_urls
from crawler.console.lab_options import parameter_value
from crawler.console.options import JSON, CommandError, flag, option
from neardup.plurals import many, noun

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.maintenance.merge.fleet_texts import FleetRecord
    from crawler.maintenance.merge.merging import Merged
    from crawler.maintenance.rejudge.rejudging import Rejudgement
    from crawler.pages.live_parameters import Tuned, TuningReport


ORIGIN = "tune"

_REDIS = re.compile(r"(rediss?|redis\+sentinel|unix)://")


def tuning_lines(report: TuningReport, folder: str) -> Iterator[str]:
    """Yield the lines of a report: present and earlier parameters, and pages judged by each."""
    from crawler.pages.items import iso_time
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
        how = (
            "with the parameters that the crawl began with"
            if before is None
            else f"after {tuned.origin}: {in_words(before.parameters, tuned.parameters)}"
        )
        since = iso_time(tuned.since)[:19].replace("T", " ")
        judged = f"{noun(pages, 'page')} judged since {since} UTC"
        yield f"{pages:>11,} {judged}, {how}"
        before = tuned
    stale = sum(report.pages[:-1])
    if stale:
        yield ""
        yield f"pages that would be judged otherwise now: crawl-once rejudge {folder} --dry-run"


@dataclass(frozen=True)
class _TuneOptions:
    json: bool = flag(JSON)
    name: str | None = option("FLEET", "name of the fleet, where a Redis holds several")


class TuneCommand(Command):
    """Changes parameters, also of a running crawl, which adopts them within a second."""

    options = _TuneOptions
    word = "tune"
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

    def act(self, args: list[str], opts: _TuneOptions) -> None:
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
    return name, parameter_value(name, value)


def rejudgement_lines(
    found: Rejudgement, folder: str, *, dry_run: bool, has_feeds: bool
) -> Iterator[str]:
    """Yield the lines of a report: the changes, and what to do next."""
    from crawler.console.report_text import example_lines

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


@dataclass(frozen=True)
class _RejudgeOptions:
    dry_run: bool = flag("say what would change, and change nothing")
    no_wall: Sequence[str] = option(
        "URL",
        "a page that was taken for a wall or a soft 404 and is none: judge it, and all that "
        "answered the same, by their texts, now and in later visits (may be repeated)",
        (),
    )
    json: bool = flag(JSON)


class RejudgeCommand(Command):
    """Judges the pages of a crawl that is not running."""

    options = _RejudgeOptions
    after_interrupt = "interrupted; nothing was changed"
    usage = "[--dry-run] [--no-wall URL] [--json] DIR"
    summary = "Judge all pages of a crawl again by its present parameters (crawl-once tune)"

    def act(self, args: list[str], opts: _RejudgeOptions) -> None:
        folder = one_directory(args)
        from crawler.maintenance.crawl_directory import CrawlDirectory
        from crawler.maintenance.rejudge.rejudging import rejudge
        from crawler.storage import meta_names

        with closing(CrawlDirectory(Path(folder), only_reads=opts.dry_run)) as directory:
            has_feeds = meta_names.FEEDS in directory.meta
            found = rejudge(directory, self.progress, dry_run=opts.dry_run, no_walls=opts.no_wall)
        lines = rejudgement_lines(found, folder, dry_run=opts.dry_run, has_feeds=has_feeds)
        self.say_result(opts, found.to_dict, lines)


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
    if merged.now_dropped:
        others = noun(merged.now_dropped, "page")
        yield f"{merged.now_dropped:>11,}  {others} that another crawl kept: duplicates now"
    if merged.now_kept:
        kept = noun(merged.now_kept, "duplicate")
        yield f"{merged.now_kept:>11,}  {kept} of what none of the crawls keeps: kept now"
    yield from _lost(merged)
    yield from _missing(merged, folder)
    yield ""
    yield f"crawl-once verify {folder} checks it; crawl-once report {folder} says more"


def _lost(merged: Merged) -> Iterator[str]:
    if not merged.lost:
        return
    from crawler.console.report_text import example_lines

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


@dataclass(frozen=True)
class _MergeOptions:
    redis: str | None = option(
        "URL", "check that no worker of that fleet is missing, and restore what a lost one kept"
    )
    name: str | None = option("NAME", "name of the fleet, where the Redis holds several")
    json: bool = flag(JSON)


class MergeCommand(Command):
    """Exit status: 0 all is there, 1 texts are lost or workers are missing, 2 it cannot be made."""

    options = _MergeOptions
    word = "merge"
    usage = "[--redis URL [--name NAME]] [--json] DIR [DIR ...] OUT"
    summary = "Make one crawl directory of several, of a fleet's workers or of any crawls"

    def act(self, args: list[str], opts: _MergeOptions) -> None:
        if len(args) < 2:
            raise CommandError("at least one crawl directory and a new one are needed")
        refuse_urls(args)
        from crawler.maintenance.merge.merging import merge

        *folders, folder = [crawl_folder(Path(word)) for word in args[:-1]] + [Path(args[-1])]
        self.after_interrupt = f"interrupted; {folder} was not made"
        merged = merge(folder, folders, self.progress, _record(opts))
        self.say_result(opts, merged.to_dict, merged_lines(merged, str(folder)))
        self.exitcode = 0 if merged.is_whole else LOST


def _record(opts: _MergeOptions) -> FleetRecord | None:
    """Return the record of a fleet, which must exist; None without one."""
    url = opts.redis
    if url is None:
        if opts.name is not None:
            raise CommandError("--name names a fleet; give its --redis URL too")
        return None
    from crawler.fleet.board import at, look
    from crawler.fleet.deduplication import kept_texts  # needs Redis' client
    from crawler.maintenance.merge.fleet_texts import FleetRecord

    status = at(url, opts.name, look)
    return FleetRecord(lambda: kept_texts(url, status.name), status.pages_of_workers)
