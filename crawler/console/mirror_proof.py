"""Run ``crawl-once mirror --prove``: lines on the terminal, and a page with both pictures."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING, NamedTuple

from crawler.console.command_line import CommandError
from crawler.console.escaping import say, template_environment
from crawler.console.progress_line import ProgressLine
from crawler.mirror.errors import MirrorError
from crawler.mirror.mirror_files import open_mirror
from crawler.mirror.paths import STATE_FOLDER
from crawler.mirror.proving import Player, Prover
from crawler.page_rendering import render_options
from crawler.rendering.browser import Browser
from crawler.rendering.rendered_pages import NoBrowserError
from neardup.files.durable import own_folder, write_whole
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from crawler.mirror.mirror_files import FileRow, FileTable
    from crawler.mirror.proving import Proof

FOLDER = "proof"
"""Folder of the page and its pictures, in the state of the mirror."""

_PAGES = "is_page = 1 AND state = 'own'"
_DONE, _WORSE = 0, 1


class _Proved(NamedTuple):
    """A line of the page: the proof of one page, whose pictures are files by its number."""

    number: int
    url: str
    path: str
    faults: list[str]
    has_pictures: bool


def prove(folder: Path, settings: BaseSettings, pages: int, program: Path | None = None) -> int:
    """Prove a sample of pages; print and write what is found, return the exit status.

    Args:
        folder: Folder of the mirror.
        settings: Settings of its crawl.
        pages: Prove at most so many pages, spread evenly over the mirror.
        program: Folder of ReplayWeb.page, in which the WACZ file of the mirror is proved instead.

    Raises:
        CommandError: There is no browser, no page, no player or no WACZ file.
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
            proved = asyncio.run(_proved(browser, prover, rows, place))
        except NoBrowserError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{place} cannot be written: {error.strerror}") from None
    worse = [each for each in proved if each.faults]
    for each in worse:
        say(f"  WORSE    {each.path}: {'; '.join(each.faults)}")
    opened = many(len(proved), "page") + (f" of {total:,}" if total > len(proved) else "")
    say(
        f"{opened} opened {_from(program)}: {len(proved) - len(worse):,} as recorded, "
        f"{len(worse):,} worse"
    )
    say(f"with both pictures of each: {_write(proved, folder, place, _from(program))}")
    return _WORSE if worse else _DONE


def _player(program: Path, folder: Path) -> Player:
    """Return the player of a mirror's WACZ file.

    Raises:
        CommandError: There is no player, or no such file.
    """
    archive = next(iter(sorted(folder.glob("warc/*.wacz"))), None)
    if archive is None:
        raise CommandError(f"{folder}: no WACZ file in it; crawl-once mirror --wacz {folder}")
    try:
        return Player(program, archive)
    except MirrorError as error:
        raise CommandError(str(error)) from None


def _from(program: Path | None) -> str:
    return "from the disk" if program is None else "in ReplayWeb.page"


def _sample(table: FileTable, total: int, pages: int) -> list[FileRow]:
    """Return pages in the order in which they came, as far from each other as can be."""
    wanted = min(pages, total)
    places = {number * total // wanted for number in range(wanted)}
    return [row for number, row in enumerate(table.rows(_PAGES)) if number in places]


async def _proved(
    browser: Browser, prover: Prover, rows: Sequence[FileRow], place: Path
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
        with ProgressLine("opening pages") as steps:
            async for proof in prover.prove(rows):
                proved.append(_kept(len(proved) + 1, proof, place))
                steps.show(len(proved), len(rows))
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
