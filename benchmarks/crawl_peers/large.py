"""A made site of many pages, and how a crawl of it fares from its first tenth to its last."""

from __future__ import annotations

import html
import tempfile
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from crawl_peers.tables import machine_line
from tests.sites.nginx import serve
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawl_peers.runs import Run

BEGIN = "<!-- written by benchmarks/crawl.py --pages -->"
END = "<!-- end of benchmarks/crawl.py --pages -->"

_FOLDER = "articles"
_CHILDREN = 20
_WORDS = 220
_IN_A_FOLDER = 1_000


@contextmanager
def made_site(pages: int) -> Iterator[str]:
    """Serve a site by nginx and give its URL: a tree of articles, some of them twice.

    Each page links to twenty that were not linked before and to its neighbours. Every tenth
    repeats the one before under another title, every fortieth with a sentence of its own.
    """
    with tempfile.TemporaryDirectory(prefix="made-site-") as folder:
        root = Path(folder)
        for number in range(pages):
            path = root / _path(number)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(_page(number, pages))
        with serve(root, _FOLDER) as served:
            yield served.url + _path(0)


def _path(number: int) -> str:
    # A crawl stays below the folder of its first page.
    if number == 0:
        return "index.html"
    return f"part-{number // _IN_A_FOLDER}/article-{number}.html"


def _page(number: int, pages: int) -> bytes:
    source = number - 1 if number % 10 == 9 else number
    text = prose(f"article {source}", _WORDS)
    if number % 40 == 39:
        text += f" Edition {prose(str(number), 8)}"
    title = html.escape(prose(f"title {number}", 5))
    children = range(number * _CHILDREN + 1, (number + 1) * _CHILDREN + 1)
    linked = [one for one in (0, number - 1, number + 1, *children) if 0 <= one < pages]
    links = "".join(
        f'<li><a href="/{_FOLDER}/{_path(one)}">Article {one}</a></li>' for one in linked
    )
    return (
        f'<!DOCTYPE html><html lang="en"><head><title>{title}</title></head><body>'
        f"<nav><ul>{links}</ul></nav><main><h1>{title}</h1><p>{text}</p></main>"
        f"<footer>Set in Garamond</footer></body></html>"
    ).encode()


def tenths_table(run: Run) -> str:
    """Return pages/s, CPU and memory of the main process in each tenth of a crawl."""
    lines = [
        "| pages so far | pages/s | over the first tenth | main process, CPU s per 1,000 pages "
        "| its memory, MB |",
        "|--:|--:|--:|--:|--:|",
    ]
    bounds = [run.marks[len(run.marks) * tenth // 10] for tenth in range(10)] + [run.marks[-1]]
    first = 0.0
    for before, after in pairwise(bounds):
        pages = after.pages - before.pages
        rate = pages / (after.secs - before.secs)
        first = first or rate
        cpu = 1000 * (after.cpu_secs - before.cpu_secs) / pages
        lines.append(
            f"| {after.pages:,} | {rate:.1f} | {rate / first:.2f} | {cpu:.2f} "
            f"| {after.bytes / 1e6:.0f} |"
        )
    return "\n".join(lines)


def large_section(run: Run) -> str:
    """Return the part of the documentation between the two marks, marks included."""
    return "\n\n".join([BEGIN, machine_line("one crawl"), tenths_table(run), END])
