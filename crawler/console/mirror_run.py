"""Run a mirror from the command line: crawl, finish, describe it, keep its earlier versions."""

from __future__ import annotations

import json
import shlex
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.filesize import decimal

from crawler.console.command_line import INTERRUPTED
from crawler.console.crawl_run import (
    INCOMPLETE,
    SpiderRun,
    standing,
)
from crawler.console.crawling import canonical_seed, stored_in_mirror
from crawler.console.escaping import template_environment
from crawler.console.mirror_packing import clear_unfinished
from crawler.console.options import CommandError
from crawler.console.report_text import change_lines, example_lines, refused_lines
from crawler.job_registry import prepare_job
from crawler.maintenance.crawl_report import make_report
from crawler.maintenance.tally import count_queued
from crawler.mirror.errors import MirrorError
from crawler.mirror.file_table import FileTable
from crawler.mirror.folder import MirrorFolder
from crawler.mirror.link_rewriting import finish
from crawler.mirror.paths import ARCHIVE, CHANGES, DUPLICATES, SEARCH, STATE_FOLDER
from crawler.mirror.reports import (
    drop_if_same,
    keep_version,
    version_names,
    versions_folder,
    write_versions,
)
from crawler.options import Options, is_fleet
from crawler.pages.verdicts import FAILED
from crawler.pages.visits import YES
from crawler.reading.decoding import decode
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse
from crawler.reading.text import tidy
from crawler.reading.visible_text import read_visible
from crawler.spiders.argument_table import option_words
from crawler.spiders.mirror import MirrorSpider
from crawler.storage import meta_names
from crawler.storage.database import FILE_NAME, open_for_reading
from crawler.storage.directory import lock_held
from crawler.storage.errors import JobError
from crawler.urls.seeds import split_seeds
from neardup.files.durable import replacing
from neardup.plurals import many, noun

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from scrapy.crawler import Crawler

    from crawler.console.command_line import Command
    from crawler.job import Job
    from crawler.maintenance.crawl_report import Report
    from crawler.mirror.file_store import ReadDocuments
    from crawler.mirror.file_table import Gone
    from crawler.mirror.link_rewriting import FinishedMirror
    from crawler.mirror.offline_search import OfflineSearch
    from crawler.warc.archive import Archive
    from crawler.watch.differences import TextDifference


SHOWN = 5

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


class Mirroring(SpiderRun):
    """One run of ``crawl-once mirror``.

    Args:
        folder: The folder of the mirror.
        arguments: The arguments of the spider.
        caller: The command.
        packs: Whether the archive is packed as WACZ.

    Raises:
        ValueError: A setting or an argument is wrong.
        JobError: The folder cannot be used.
    """

    def __init__(
        self,
        folder: Path,
        arguments: dict[str, str],
        caller: Command,
        *,
        packs: bool = False,
    ) -> None:
        _check_folder(folder)
        self._progress = caller.progress
        self._folder = folder
        self._packs = packs
        remembered = _remembered(folder, arguments)
        self._as_before = [option_words(name, value) for name, value in remembered.items()]
        super().__init__(MirrorSpider, arguments | remembered, caller)
        self._settings.set("JOBDIR", str(folder / STATE_FOLDER), priority="cmdline")

    def _prepared(self) -> Job:
        if is_fleet(self._settings):
            raise MirrorError("a mirror is made by one crawl alone; leave FLEET_ENABLED out")
        if self._arguments.get("text") == "no":  # rules are learned from texts
            if self._arguments.get("search") == "yes":
                raise CommandError("--search needs the text of pages; give --text or --no-search")
            if self._arguments.get("rules"):
                raise CommandError("--rules needs the text of pages; leave it out or give --text")
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
        if is_other and FileTable(database.read).count():
            raise JobError(f"{self._folder}: is a mirror of {found_url}; give another directory")
        database.set_meta(meta_names.MIRROR_URL, url)
        kept = {name: self._arguments[name] for name in _KEPT_ARGUMENTS if name in self._arguments}
        database.set_meta(meta_names.MIRROR_OPTIONS, json.dumps(kept))
        database.commit()

    def _conclude(self, job: Job, crawler: Crawler) -> int:
        if job.database.failure is not None and job.result.stop_reason is None:
            self._complain(f"stopped: {job.failure}")
            return INCOMPLETE
        spider = crawler.spider
        read = spider.mirror.documents if isinstance(spider, MirrorSpider) else None
        try:
            finished = self._finish(read)
        except KeyboardInterrupt:
            self._complain("links are not rewritten yet; the same command goes on")
            return INTERRUPTED
        queued, is_blank = self._say(job, finished)
        is_damaged = Options(self._settings).boolean("WARC_ENABLED") and self._finish_archive()
        is_incomplete = bool(finished.parts) or is_blank or is_damaged
        return self._exit_status(job, is_open=bool(queued), is_incomplete=is_incomplete)

    def _finish_archive(self) -> bool:
        """Index the archive, and pack it if wanted; return whether something in it is damaged."""
        if not any((self._folder / ARCHIVE).glob("*.warc*")):
            return False  # no answer came; why, was said
        from crawler.warc.index_and_pack import finish as finish_archive  # noqa: PLC0415

        done = finish_archive(
            self._folder / ARCHIVE,
            self._packs,
            title=self._arguments["url"],
            crawl=self._folder / STATE_FOLDER,
        )
        self._tell(f"archive: {done.wacz or done.cdxj.parent}, {done.captures:,} captures")
        return done.damaged > 0

    def _finish(self, read: ReadDocuments | None) -> FinishedMirror:
        with lock_held(self._folder / STATE_FOLDER), self._progress:
            clear_unfinished(self._folder)
            start = split_seeds(self._arguments["url"])[0]
            removes_gone = self._arguments.get("gone") == "remove"
            finished = finish(
                self._folder, start, self._progress, removes_gone=removes_gone, read=read
            )
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
            self._tell(f"with the scripts that need a server: crawl-once mirror serve {place}")
        self._tell(f"to check it: crawl-once mirror check {place}")
        return report.queued, bool(report.app_shells)


def _remembered(folder: Path, arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the options of the last run that are not given now."""
    stored = json.loads(stored_in_mirror(folder, meta_names.MIRROR_OPTIONS) or "{}")
    return {
        name: value
        for name, value in stored.items()
        if value and name in _KEPT_ARGUMENTS and name not in arguments
    }


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
    table = FileTable(connection.execute)
    pages, others = (table.count(f"state = 'own' AND is_page = {kind}") for kind in (1, 0))
    without = table.count("state <> 'own' AND stand_in IS NOT NULL")
    yield f"{many(pages, 'page')} and {many(others, 'other file')}, {decimal(finished.size)}"
    if without:
        yield (f"{many(without, 'URL')} for which another file stands: {folder / DUPLICATES}")
    if report.url_rules:
        yield (
            f"{many(report.skipped, 'request')} not made, by "
            f"{many(report.url_rules, 'learned URL rule')}: crawl-once rules {folder / '.mirror'}"
        )
    if missing := table.missing():
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


MAX_COMPARED = 1_000
"""Compare the texts of at most this many changed pages."""

_MAX_PASSAGES = 20
_MAX_CHARACTERS = 1_000
_MAX_BYTES = 4 * 2**20
_LISTED = ("new", "gone", "moved")


class ChangedPage(NamedTuple):
    """A page that changed.

    Attributes:
        url: Its URL.
        path: Path of its file.
        was_there: Whether the version has a file at this path.
        difference: What differs between the texts, or None if they were not compared.
    """

    url: str
    path: str
    was_there: bool
    difference: TextDifference | None


def _is_wanted(arguments: Mapping[str, str]) -> bool:
    return arguments.get("keep_versions") == "yes"


def begin_version(root: Path, arguments: Mapping[str, str]) -> None:
    """Keep the state of a mirror that is about to be updated, if that is wanted.

    Args:
        root: Folder of the mirror.
        arguments: Arguments of its spider.

    Raises:
        MirrorError: It cannot be kept.
    """
    if not _is_wanted(arguments):
        return
    with MirrorFolder(root) as folder:
        _conclude(root, folder)  # where the process of the last update was killed before it did so
        keep_version(root, folder)


def end_version(root: Path, arguments: Mapping[str, str]) -> None:
    """Show what changed since the last version, or remove it where nothing did.

    An update that was stopped may change something yet: the run that finishes it does so.
    """
    if not _is_wanted(arguments):
        return
    with closing(open_for_reading(root / STATE_FOLDER)) as connection:
        is_whole = not count_queued(connection)
    with MirrorFolder(root) as folder:
        if is_whole:
            _conclude(root, folder)
        write_versions(root, folder)


def _conclude(root: Path, folder: MirrorFolder) -> None:
    """Write the page of the last version, which is written once, or remove the version."""
    place = versions_folder(root)
    name = next(reversed(version_names(root)), None)
    if name is None or (place / f"{name}.html").exists() or not folder.exists(CHANGES):
        return
    if drop_if_same(root, folder):
        return
    changes = json.loads(folder.read(CHANGES))
    page = place / f"{name}.html"
    with replacing(page, f"{name}.partial") as file:
        for piece in _page(name, changes, folder, place / name):
            file.write(piece.encode("utf-8", "replace"))


def _page(name: str, changes: dict[str, Any], folder: MirrorFolder, version: Path) -> Iterator[str]:
    """Yield the pieces of a page; one difference at a time is in memory."""
    rows = changes.get("changed", ())
    optional = {"path": "", "moved_to": ""}
    listed = {kind: [optional | row for row in changes.get(kind, ())] for kind in _LISTED}
    template = template_environment().get_template("changes.html")
    return template.generate(
        name=name,
        has_changed=bool(rows),
        changed=_changed_pages(rows, folder, version),
        listed=listed,
        max_passages=_MAX_PASSAGES,
        max_characters=_MAX_CHARACTERS,
    )


def _changed_pages(
    rows: list[dict[str, Any]], folder: MirrorFolder, version: Path
) -> Iterator[ChangedPage]:
    from crawler.watch.differences import find_difference  # noqa: PLC0415  # slow

    for number, row in enumerate(rows):
        path = row.get("path", "")
        before = version / path
        is_file = bool(path) and before.is_file() and not before.is_symlink()
        difference = None
        if is_file and path.endswith(".html") and number < MAX_COMPARED:
            try:
                difference = find_difference(
                    _text_of(before.read_bytes()), _text_of(folder.read(path))
                )
            except (MirrorError, OSError):  # one of them was removed meanwhile
                difference = None
        yield ChangedPage(row["url"], path, is_file, difference)


def _text_of(body: bytes) -> str:
    """Return the visible text of a stored page, whose encoding it declares itself."""
    root = parse(decode(body[:_MAX_BYTES], "text/html").utf8)
    return tidy(read_visible(flatten(root)).text)
