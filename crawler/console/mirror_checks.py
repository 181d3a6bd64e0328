"""Check a mirror file by file, and prove it page by page in Chromium, beside the recording."""

from __future__ import annotations

import asyncio
import shlex
import shutil
from typing import TYPE_CHECKING, NamedTuple

from crawler.console.crawl_run import DONE, INCOMPLETE
from crawler.console.escaping import say, template_environment
from crawler.console.options import CommandError
from crawler.console.report_text import example_lines
from crawler.maintenance.tally import count_queued
from crawler.mirror.checking import Checker
from crawler.mirror.mirror_files import open_mirror
from crawler.mirror.paths import ARCHIVE, STATE_FOLDER
from crawler.mirror.proving import Player, Prover
from crawler.rendering.browser import Browser
from crawler.spiders.page_rendering import render_options
from crawler.storage.database import FILE_NAME
from crawler.storage.directory import lock_held
from neardup.files.durable import own_folder, write_whole
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from crawler.console.progress import ProgressLine
    from crawler.mirror.checking import Check
    from crawler.mirror.file_table import FileRow, FileTable
    from crawler.mirror.proving import Proof

FOLDER = "proof"
"""Folder of the page and its pictures, in the state of the mirror."""

_PAGES = "is_page = 1 AND state = 'own'"


class _Proved(NamedTuple):
    """A line of the page: the proof of one page, whose pictures are files by its number."""

    number: int
    url: str
    path: str
    faults: list[str]
    has_pictures: bool


def prove(
    folder: Path,
    settings: BaseSettings,
    pages: int,
    progress: ProgressLine,
    program: Path | None = None,
) -> int:
    """Prove a sample of pages; print and write what is found, return the exit status.

    Args:
        folder: Folder of the mirror.
        settings: Settings of its crawl.
        pages: The most pages to prove, spread evenly over the mirror.
        progress: Shows how far it is.
        program: Folder of ReplayWeb.page, in which the WACZ file of the mirror is proved instead.

    Raises:
        CommandError: There is no page or no WACZ file.
        MirrorError: There is no player.
        NoBrowserError: There is no browser.
        JobError: There is no mirror, or its database cannot be read.
    """
    player = None if program is None else _player(program, folder)
    place = folder / STATE_FOLDER / FOLDER
    with open_mirror(folder) as mirror:
        total = mirror.table.count(_PAGES)
        if not total:
            raise CommandError(f"{folder}: no page to prove")
        browser = Browser(render_options(settings))
        prover = Prover(browser, mirror, player)
        rows = _sample(mirror.table, total, pages)
        try:
            proved = asyncio.run(_proved(browser, prover, rows, place, progress))
        except OSError as error:
            raise CommandError(f"{place} cannot be written: {error.strerror}") from None
    progress.end()
    worse = [each for each in proved if each.faults]
    for each in worse:
        say(f"  WORSE    {each.path}: {'; '.join(each.faults)}")
    opened = many(len(proved), "page") + (f" of {total:,}" if total > len(proved) else "")
    say(
        f"{opened} opened {_from(program)}: {len(proved) - len(worse):,} as recorded, "
        f"{len(worse):,} worse"
    )
    say(f"with both pictures of each: {_write(proved, folder, place, _from(program))}")
    return INCOMPLETE if worse else DONE


def _player(program: Path, folder: Path) -> Player:
    """Return the player of a mirror's WACZ file.

    Raises:
        CommandError: There is no such file.
        MirrorError: There is no player.
    """
    archive = next(iter(sorted(folder.glob("warc/*.wacz"))), None)
    if archive is None:
        raise CommandError(f"{folder}: no WACZ file in it; crawl-once mirror --wacz {folder}")
    return Player(program, archive)


def _from(program: Path | None) -> str:
    return "from the disk" if program is None else "in ReplayWeb.page"


def _sample(table: FileTable, total: int, pages: int) -> list[FileRow]:
    """Return pages in the order in which they came, as far from each other as can be."""
    wanted = min(pages, total)
    places = {number * total // wanted for number in range(wanted)}
    return [row for number, row in enumerate(table.rows(_PAGES)) if number in places]


async def _proved(
    browser: Browser, prover: Prover, rows: Sequence[FileRow], place: Path, progress: ProgressLine
) -> list[_Proved]:
    """Prove pages and write their pictures.

    Raises:
        NoBrowserError: There is no browser, or it does not start.
    """
    await browser.start()
    proved: list[_Proved] = []
    try:
        shutil.rmtree(place, ignore_errors=True)
        own_folder(place)
        async for proof in prover.prove(rows):
            proved.append(_kept(len(proved) + 1, proof, place))
            progress(len(proved) / len(rows), "opening pages")
    finally:
        await browser.close()
    return proved


def _kept(number: int, proof: Proof, place: Path) -> _Proved:
    if proof.recorded is not None and proof.stored is not None:
        write_whole(place / f"{number}-recorded.png", proof.recorded.picture)
        write_whole(place / f"{number}-stored.png", proof.stored.picture)
    return _Proved(number, proof.url, proof.path, proof.faults, proof.recorded is not None)


def _write(proved: Sequence[_Proved], folder: Path, place: Path, source: str) -> Path:
    page = place / "index.html"
    # Those that are worse come first.
    lines = sorted(proved, key=lambda each: not each.faults)
    template = template_environment().get_template("proof.html")
    write_whole(page, template.render(folder=folder, proved=lines, source=source).encode())
    return page


def check(folder: Path, progress: ProgressLine, *, deep: bool = False) -> int:
    """Prove a mirror; print what is wrong, return the exit status.

    Args:
        folder: The mirror.
        progress: Shows how far it is.
        deep: Whether its WARC files are read through, too.

    Raises:
        CommandError: There is no mirror.
        JobError: Its database cannot be read, or it is being written.
    """
    if not (folder / STATE_FOLDER / FILE_NAME).is_file():
        raise CommandError(f"{folder}: no mirror in it (no {STATE_FOLDER}/{FILE_NAME})")
    with lock_held(folder / STATE_FOLDER), open_mirror(folder) as mirror, progress:
        found = Checker(mirror.table, mirror.folder, progress).check()
        if (folder / ARCHIVE).is_dir():
            from crawler.warc.index_and_pack import losses  # noqa: PLC0415  # warcio can wait

            for lost in losses(folder / ARCHIVE, deep=deep):
                found.add("lost of the WARC files", lost)
        queued = count_queued(mirror.connection)
    for line in _check_lines(found, folder, queued):
        say(line)
    return DONE if found.files and not found.problems else INCOMPLETE


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
