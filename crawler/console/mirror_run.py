"""Run a mirror from the command line: crawl, finish and describe it; or check one."""

from __future__ import annotations

import json
import shlex
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from rich.filesize import decimal

from crawler.console.command_line import INTERRUPTED, CommandError
from crawler.console.count_tables import example_lines
from crawler.console.crawl_run import (
    DONE,
    INCOMPLETE,
    SpiderRun,
    Teller,
    exit_status,
    option_words,
    standing,
)
from crawler.console.crawling import chosen_place
from crawler.console.escaping import say, say_or_go_on
from crawler.console.mirror_history import begin_version, end_version
from crawler.console.mirror_packing import clear_unfinished
from crawler.console.progress_line import ProgressLine
from crawler.console.report_text import change_lines, refused_lines
from crawler.job_registry import prepare_job
from crawler.maintenance.crawl_report import make_report
from crawler.maintenance.tally import count_queued
from crawler.mirror.checking import Checker
from crawler.mirror.errors import MirrorError
from crawler.mirror.folder import MirrorFolder
from crawler.mirror.link_rewriting import finish
from crawler.mirror.mirror_files import FileTable
from crawler.mirror.paths import ARCHIVE, CHANGES, DUPLICATES, SEARCH, STATE_FOLDER
from crawler.mirror.reports import missing_files
from crawler.options import Options, is_fleet
from crawler.pages.verdicts import FAILED
from crawler.pages.visits import YES
from crawler.spiders.mirror import MirrorSpider
from crawler.storage import meta_names
from crawler.storage.database import FILE_NAME, meta_of, open_for_reading
from crawler.storage.directory import lock_held
from crawler.storage.errors import JobError
from crawler.urls.canonical import Canonicalizer
from crawler.urls.scope import scope_folder
from crawler.urls.seeds import host_folder, split_seeds
from neardup.plurals import many, noun

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawler.job import Job
    from crawler.maintenance.crawl_report import Report
    from crawler.mirror.checking import Check
    from crawler.mirror.file_store import ReadDocuments
    from crawler.mirror.link_rewriting import FinishedMirror
    from crawler.mirror.mirror_files import Gone
    from crawler.mirror.offline_search import OfflineSearch
    from crawler.warc.archive import Archive

SHOWN = 5

_COUNTS = """
SELECT coalesce(sum(state = 'own' AND is_page), 0), coalesce(sum(state = 'own' AND NOT is_page), 0),
       coalesce(sum(state <> 'own' AND stand_in IS NOT NULL), 0)
FROM files
"""

_KEPT_ARGUMENTS = (
    *(name for name in MirrorSpider.planned if name != "url"),
    "sitemaps",
    "text",
    "gone",
    "render",
    "screenshots",
    "search",
    "keep_versions",
)


MIRROR_TELLER = Teller(lambda line: say_or_go_on(f"mirror: {line}", to_stderr=True))


class Mirroring(SpiderRun):
    """One run of ``crawl-once mirror``.

    Args:
        folder: The folder of the mirror.
        arguments: The arguments of the spider.
        settings: The project's settings.
        packs: Whether the archive is packed as WACZ.

    Raises:
        ValueError: A setting or an argument is wrong.
        JobError: The folder cannot be used.
    """

    def __init__(
        self,
        folder: Path,
        arguments: dict[str, str],
        settings: BaseSettings,
        *,
        packs: bool = False,
    ) -> None:
        _check_folder(folder)
        self._folder = folder
        self._packs = packs
        remembered = _remembered(folder, arguments)
        self._as_before = [option_words(name, value) for name, value in remembered.items()]
        super().__init__(MirrorSpider, arguments | remembered, settings, MIRROR_TELLER)
        settings.set("JOBDIR", str(folder / STATE_FOLDER), priority="cmdline")

    def _prepared(self) -> Job:
        if is_fleet(self._settings):
            raise MirrorError("a mirror is made by one crawl alone; leave FLEET_ENABLED out")
        if self._arguments.get("text") == "no":  # rules are learned from texts
            if self._arguments.get("search") == "yes":
                raise CommandError(
                    "--search needs the text of pages; give --text yes or --search no"
                )
            if self._arguments.get("rules"):
                raise CommandError(
                    "--rules needs the text of pages; leave it out or give --text yes"
                )
            self._settings.set("CRAWL_LEARN_URL_RULES", False, priority="cmdline")
        return prepare_job(self._settings)

    def _claim(self, job: Job) -> None:
        self._check_identity(job)
        if not job.is_new:
            self._arguments["revisit"] = YES
        super()._claim(job)

    def _begins(self, job: Job, before: str | None, archive: Archive | None) -> bool:
        stands = standing(job, self._arguments.get("revisit", "no"), before, adds="")
        if job.is_over:
            begin_version(self._folder, self._arguments)
        # What follows speaks of an option that spiders have.
        self._tell(f"mirror: {self._folder} ({stands.partition(';')[0]})")
        if self._as_before:
            self._tell(f"as before: {' '.join(self._as_before)}")
        return True

    def _check_identity(self, job: Job) -> None:
        """Refuse a folder that holds a mirror of another URL."""
        database = job.database
        found_url = database.meta(meta_names.MIRROR_URL)
        url = self._arguments["url"]
        is_other = found_url is not None and canonical_seed(found_url) != canonical_seed(url)
        # A misspelt URL leaves no files.
        if is_other and database.read("SELECT 1 FROM files LIMIT 1").fetchone() is not None:
            raise JobError(f"{self._folder}: is a mirror of {found_url}; give another directory")
        database.set_meta(meta_names.MIRROR_URL, url)
        kept = {name: self._arguments[name] for name in _KEPT_ARGUMENTS if name in self._arguments}
        database.set_meta(meta_names.MIRROR_OPTIONS, json.dumps(kept))
        database.commit()

    def _conclude(self, job: Job, crawler: Crawler) -> int:
        if job.database.failure is not None and job.result.stop_reason is None:
            self._teller.complain(f"stopped: {job.failure}")
            return INCOMPLETE
        spider = crawler.spider
        read = spider.mirror.documents if isinstance(spider, MirrorSpider) else None
        try:
            finished = self._finish(read)
        except KeyboardInterrupt:
            self._teller.complain("links are not rewritten yet; the same command goes on")
            return INTERRUPTED
        queued, is_blank = self._say(job, finished)
        is_damaged = Options(self._settings).boolean("WARC_ENABLED") and self._finish_archive()
        is_incomplete = bool(finished.parts) or is_blank or is_damaged
        complain = self._teller.complain
        return exit_status(job, complain, is_open=bool(queued), is_incomplete=is_incomplete)

    def _finish_archive(self) -> bool:
        """Index the archive, and pack it if wanted; return whether something in it is damaged."""
        from crawler.warc.index_and_pack import finish as finish_archive  # noqa: PLC0415
        from crawler.warc.sources import ArchiveError  # noqa: PLC0415  # warcio, where it is used

        try:
            done = finish_archive(
                self._folder / ARCHIVE,
                self._packs,
                title=self._arguments["url"],
                crawl=self._folder / STATE_FOLDER,
            )
        except ArchiveError as error:
            raise CommandError(str(error)) from None
        self._tell(f"archive: {done.wacz or done.cdxj.parent}, {done.captures:,} captures")
        return done.damaged > 0

    def _finish(self, read: ReadDocuments | None) -> FinishedMirror:
        with lock_held(self._folder / STATE_FOLDER), ProgressLine("rewriting links") as steps:
            clear_unfinished(self._folder)
            start = split_seeds(self._arguments["url"])[0]
            removes_gone = self._arguments.get("gone") == "remove"
            finished = finish(self._folder, start, steps.show, removes_gone=removes_gone, read=read)
            end_version(self._folder, self._arguments)
            return finished

    def _say(self, job: Job, finished: FinishedMirror) -> tuple[int, bool]:
        """Print a report; return how many requests wait, and whether pages open empty."""
        with closing(open_for_reading(self._folder / STATE_FOLDER)) as connection:
            report = make_report(connection)
            for line in _mirror_lines(connection, report, finished, self._folder):
                self._tell(line)
        if repaired := job.result.repaired_files:
            was = noun(repaired, "file was", "files were")
            self._tell(f"{repaired:,} {was} written again: missing or changed on the disk")
        self._tell_open(job, report.queued)
        if not report.fetched and not report.kept:
            return report.queued, bool(report.app_shells)
        self._tell(f"open {self._folder / 'index.html'}")
        if finished.search is not None:
            self._tell(_search_line(finished.search, self._folder))
        place = shlex.quote(str(self._folder))
        if finished.needs_server:
            self._tell(f"with the scripts that need a server: crawl-once mirror --serve {place}")
        self._tell(f"to check it: crawl-once mirror --check {place}")
        return report.queued, bool(report.app_shells)


def _remembered(folder: Path, arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the options of the last run that are not given now."""
    stored = json.loads(_stored(folder, meta_names.MIRROR_OPTIONS) or "{}")
    return {
        name: value
        for name, value in stored.items()
        if value and name in _KEPT_ARGUMENTS and name not in arguments
    }


def canonical_seed(urls: str) -> str:
    return Canonicalizer()(urls.partition(",")[0].strip())


def usual_folder(settings: BaseSettings, url: str) -> Path:
    """Return the folder of a mirror for which none is named: of its host, or its own beside it."""
    parent, seeds = Path(str(Options(settings).raw("MIRROR_DIRECTORY"))), split_seeds(url)
    names = (host_folder(seeds[0]), scope_folder(seeds, "prefix"))
    place = chosen_place(parent, names, canonical_seed(url), mirrored_urls)
    if place.why:
        say_or_go_on(f"mirror: a directory of its own, since {place.why}")
    return place.folder


def mirrored_urls(folder: Path) -> list[str]:
    """Return the URL that a folder mirrors, in a list; empty: none."""
    url = _stored(folder, meta_names.MIRROR_URL)
    return [] if url is None else [canonical_seed(url)]


def check(folder: Path, *, deep: bool = False) -> int:
    """Prove a mirror; print what is wrong, return the exit status.

    Args:
        folder: The mirror.
        deep: Whether its WARC files are read through, too.

    Raises:
        CommandError: There is no mirror.
        JobError: Its database cannot be read, or it is being written.
    """
    if not (folder / STATE_FOLDER / FILE_NAME).is_file():
        raise CommandError(f"{folder}: no mirror in it (no {STATE_FOLDER}/{FILE_NAME})")
    with (
        lock_held(folder / STATE_FOLDER),
        closing(open_for_reading(folder / STATE_FOLDER)) as connection,
        MirrorFolder(folder, read_only=True) as files,
        ProgressLine("checking") as steps,
    ):
        found = Checker(FileTable(connection.execute), files, steps.show).check()
        if (folder / ARCHIVE).is_dir():
            from crawler.warc.index_and_pack import losses  # noqa: PLC0415  # warcio can wait

            for lost in losses(folder / ARCHIVE, deep=deep):
                found.add("lost of the WARC files", lost)
        queued = count_queued(connection)
    for line in _check_lines(found, folder, queued):
        say(line)
    return DONE if found.files and not found.problems else INCOMPLETE


def _stored(folder: Path, name: str) -> str | None:
    """Return a value that a mirror stored; None where there is no mirror."""
    if not (folder / STATE_FOLDER / FILE_NAME).is_file():
        return None
    with closing(open_for_reading(folder / STATE_FOLDER)) as connection:
        return meta_of(connection.execute, name)


def known_url(folder: Path) -> str:
    """Return the URL that a folder is a mirror of.

    Raises:
        CommandError: That is not known.
    """
    url = _stored(folder, meta_names.MIRROR_URL)
    if url is None:
        raise CommandError(f"{folder}: the URL that it mirrors is not known; give it too")
    return url


def _check_folder(folder: Path) -> None:
    """Refuse a folder that holds something else: its files might be taken for the mirror's."""
    if folder.exists() and not folder.is_dir():
        raise JobError(f"{folder}: is a file, not a directory; give another one")
    if folder.is_dir() and not (folder / STATE_FOLDER).is_dir() and any(folder.iterdir()):
        if (folder / FILE_NAME).is_file():
            raise JobError(
                f"{folder}: a crawl directory, which is no mirror; crawl-once URL {folder} goes on "
                "with it; for a mirror, give a new or empty directory"
            )
        raise JobError(f"{folder}: holds other files and no mirror; give a new or empty directory")


def _mirror_lines(
    connection: sqlite3.Connection, report: Report, finished: FinishedMirror, folder: Path
) -> Iterator[str]:
    pages, others, without = connection.execute(_COUNTS).fetchone()
    yield f"{many(pages, 'page')} and {many(others, 'other file')}, {decimal(finished.size)}"
    if without:
        yield (f"{many(without, 'URL')} for which another file stands: {folder / DUPLICATES}")
    if report.url_rules:
        yield (
            f"{many(report.skipped, 'request')} not made, by "
            f"{many(report.url_rules, 'learned URL rule')}: crawl-once rules {folder / '.mirror'}"
        )
    if missing := missing_files(connection):
        yield "missing from the mirror:"
        for (verdict, why), count in missing.items():
            kind = "" if verdict == FAILED else f"{verdict}: "
            yield f"  {count:>9,}  {kind}{why}"
        state = shlex.quote(str(folder / ".mirror"))
        verdicts = " and with --verdict ".join(sorted({verdict for verdict, _ in missing}))
        yield f"  to list them: crawl-once pages {state} --verdict {verdicts}"
    if finished.parts:
        are = "is only a part" if len(finished.parts) == 1 else "are only parts"
        yield (
            f"{many(len(finished.parts), 'file')} {are} of what the site has; "
            "the same command asks again:"
        )
        yield from example_lines(finished.parts[:SHOWN], len(finished.parts), 2)
    if finished.damaged:
        yield f"{many(len(finished.damaged), 'file')} changed outside the crawl, left as they are:"
        yield from example_lines(finished.damaged[:SHOWN], len(finished.damaged), 2)
    yield from _gone_lines(finished.gone)
    yield from refused_lines(report)
    if report.changes is not None:
        yield from change_lines(report.changes)
        yield f"all changes: {folder / CHANGES}"


def _gone_lines(gone: Gone) -> Iterator[str]:
    if gone.removed:
        yield f"{many(gone.removed, 'file')} removed: gone from the site"
    if gone.kept:
        pages = many(gone.kept, "file is", "files are")
        if gone.are_too_many:
            yield f"{pages} gone from the site, half of all or more, and kept: it may be broken"
        elif gone.are_needed:
            yield f"{pages} gone from the site and kept: for pages that are there and repeated them"
        else:
            yield f"{pages} gone from the site and kept; --gone remove takes them out"


def _search_line(search: OfflineSearch, folder: Path) -> str:
    """Return what the search of a mirror has, and its size."""
    line = f"search {folder / SEARCH}: {many(search.pages, 'page')}, {decimal(search.size)}"
    if search.without_text:
        line += f"; {many(search.without_text, 'page')} by title alone, since the index is full"
    return line


def _check_lines(found: Check, folder: Path, queued: int) -> Iterator[str]:
    if queued:
        command = f"crawl-once mirror {shlex.quote(str(folder))}"
        state = f"{many(queued, 'URL is', 'URLs are')} queued"
        yield f"{folder}: the mirror is not finished, {state}; this goes on with it: {command}"
    yield (
        f"{folder}: {many(found.files, 'file')}, {many(found.links, 'link')} within it, "
        f"{found.outward:,} to the network"
    )
    for kind, count in found.counts.items():
        yield f"  PROBLEM  {kind}: {count:,}"
        yield from example_lines(found.findings[kind], count)
    if not found.files:
        yield "  PROBLEM  nothing was mirrored yet"
    elif not found.problems:
        yield "  ok       every link leads to a file, every file is linked, every digest is right"
    elif not queued and set(found.counts) - {"files that are not of the mirror"}:
        yield "           the command that made the mirror fetches again what is missing or changed"
