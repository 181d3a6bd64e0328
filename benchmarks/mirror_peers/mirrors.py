"""How each of the mirrors is called."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from crawl_peers.runs import SETTINGS

if TYPE_CHECKING:
    from pathlib import Path

    from mirror_peers.sites import Original

WGET, HTTRACK, OURS, NO_TEXT = "wget", "httrack", "ours", "ours, no text"
MIRRORS = (WGET, HTTRACK, OURS, NO_TEXT)

FINE = {WGET: {0, 8}, HTTRACK: {0}, OURS: {0, 1}, NO_TEXT: {0, 1}}
"""Exit statuses of a mirror that was made: 8 for something not found, 1 for one that had a cap."""

# No limit of connections or bytes a second is 0: any other, however high, makes it wait a second
# for each file. No front page of its own, no robots.txt.
_HTTRACK = ("-q", "-c16", "-%c0", "-A0", "--disable-security-limits", "-I0", "-s0")
_WGET = ("-q", "-r", "-l", "inf", "-k", "-p", "-E", "-np", "-e", "robots=off")


def is_there(mirror: str) -> bool:
    """Whether its program is installed."""
    return mirror in {OURS, NO_TEXT} or shutil.which(mirror) is not None


def command(mirror: str, site: Original, folder: Path, cap: int | None) -> list[str]:
    """The words that mirror a site into a folder.

    The peers know no limit of pages: theirs is one of bytes, as many as the pages have on average.
    """
    url = site.served.url
    limit = None if cap is None else cap * site.mean_page_bytes
    if mirror == WGET:
        return ["wget", *_WGET, *([f"-Q{limit}"] if limit else []), "-P", str(folder), url]
    if mirror == HTTRACK:
        return ["httrack", url, "-O", str(folder), *_HTTRACK, *([f"-M{limit}"] if limit else [])]
    arguments = ["mirror", url, str(folder)]
    if mirror == NO_TEXT:
        arguments.append("--no-text")
    if cap is not None:
        arguments += ["--max-pages", str(cap)]
    for name, value in SETTINGS.items():
        if name != "EXTENSIONS":  # the meter of whole crawls
            arguments += ["-s", f"{name}={value}"]
    return [sys.executable, "-m", "scrapy", *arguments]
