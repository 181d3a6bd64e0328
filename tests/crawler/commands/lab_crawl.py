"""A small crawl directory with pairs at several distances, and a hostile page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.lab.labels import label_of, store_labels
from crawler.lab.session import loaded
from crawler.lab.sides import place_of
from tests.crawler.pages.test_capture import html
from tests.crawler.pages.test_revisits import OPTIONS, Visiting
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.run import JobOptions

BASE = "http://example.com"
WORDS = prose("first", 200).split()
HOSTILE = "\x1b]0;owned\x07 title \u202e\x9b2J <script>alert(1)</script>"


def edited(*places: int) -> str:
    """The first text with words exchanged."""
    return " ".join("changed" if place in places else word for place, word in enumerate(WORDS))


PAGES = (
    ("/a", html(edited(), "First")),
    ("/same", html(edited(), "First")),
    ("/one-word", html(edited(100), "One word")),
    ("/five-words", html(edited(*range(0, 200, 40)), "Five words")),
    ("/many-words", html(edited(*range(0, 200, 8)), "Many words")),
    ("/other", html(prose("other", 200), "Other")),
    ("/short", html("Few words.", "Short")),
    ("/evil", html(f"{edited(50)} \u202eevil\u2066 \x9b31m&#27;[2J", HOSTILE)),
)


def make_lab_crawl(folder: Path, options: JobOptions = OPTIONS) -> Path:
    """Capture the pages in one visit."""
    visiting = Visiting(folder, options)
    for path, body in PAGES:
        visiting.get(path, body)
    visiting.close()
    return folder


def label_pair(folder: Path, urls: tuple[str, str], *, is_duplicate: bool) -> tuple[bytes, bytes]:
    """Label two pages as the lab does, and return the digests of their texts."""
    found = loaded([folder], lambda *_: None)
    pages = found.session.pages
    first, second = (pages[place_of(pages, url)] for url in urls)
    label = label_of(first, second, is_duplicate=is_duplicate)
    store_labels(found.sources.paths, [label])
    return label.pair
