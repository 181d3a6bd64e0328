"""Mirrors of what is large: one file in each coding, many files of one page, pages with files."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import brotli  # type: ignore[import-untyped]
import zstandard
from crawl_peers.runs import ROOT, SETTINGS, RunFailedError
from process_watch import ProcessWatch

from tests.sites.nginx import Layout, serve
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FILE_BYTES = 200 * 2**20
MANY_FILES = 20_000
PAGES = 2_000
NO_TEXT = ("--no-text",)

_LARGE_BYTES = 100 * 2**20
_PAGES_A_FILE = 200
_LINKS = 10
_PAGE = "<!doctype html><title>{title}</title><h1>{title}</h1>\n<p>{text}</p>\n{links}\n"
_CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, 1),
    "br": lambda data: bytes(brotli.compress(data, quality=1)),
    "zstd": lambda data: zstandard.compress(data, 1),
}
_CODED = "".join(
    f"location /{name}/f.bin {{ alias ROOT/{name}/f.bin; add_header Content-Encoding {name}; }} "
    for name in _CODINGS
)
_LAYOUT = Layout('gzip off; location / { alias "ROOT/"; } ' + _CODED)


@dataclass(frozen=True)
class Case:
    """A mirror to be measured.

    Attributes:
        site: What is mirrored, in words.
        folder: Folder of the site to begin at.
        options: Options of the mirror.
    """

    site: str
    folder: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Cost:
    """What a mirror took: CPU of all processes, and the most memory that they held together."""

    case: Case
    cpu_secs: float
    peak_bytes: int


def cases(pages: int) -> list[Case]:
    one = f"one file of {FILE_BYTES // 2**20} MiB"
    whole = f"{pages:,} pages and {pages // _PAGES_A_FILE} files of {_LARGE_BYTES // 2**20} MiB"
    return [
        Case(one, "plain", NO_TEXT),
        *(Case(f"{one}, in {name}", name, NO_TEXT) for name in _CODINGS),
        Case(one, "plain", (*NO_TEXT, "--warc")),
        Case(f"{one}, in gzip", "gzip", (*NO_TEXT, "--warc")),
        Case(one, "plain", (*NO_TEXT, "-s", "HTTPCACHE_ENABLED=True")),
        Case(f"{MANY_FILES:,} files of one page", "many", NO_TEXT),
        Case(whole, "pages", NO_TEXT),
        Case(whole, "pages", ()),
    ]


def measure(wanted: Sequence[Case], pages: int) -> Iterator[Cost]:
    """Serve the sites, and mirror each from nothing.

    Raises:
        SiteUnavailableError: nginx is missing.
        RunFailedError: A mirror failed.
    """
    with tempfile.TemporaryDirectory(prefix="mirror-large-") as temporary:
        root = Path(temporary)
        _write(root, pages)
        with serve(root, "", _LAYOUT) as served:
            for case in wanted:
                yield _run(case, f"{served.url}{case.folder}/")


def table(costs: Sequence[Cost]) -> str:
    lines = ["| site | options | CPU s | peak MB |", "|---|---|--:|--:|"]
    lines += [
        f"| {cost.case.site} | `{' '.join(cost.case.options)}` | {cost.cpu_secs:.1f} "
        f"| {cost.peak_bytes / 1e6:.0f} |".replace("``", "")
        for cost in costs
    ]
    return "\n".join(lines)


def _run(case: Case, url: str) -> Cost:
    with tempfile.TemporaryDirectory(prefix="mirror-large-") as temporary:
        options = [*case.options, "--max-file-bytes", "1GB"]
        for name, value in SETTINGS.items():
            if name != "EXTENSIONS":  # the meter of whole crawls
                options += ["-s", f"{name}={value}"]
        options += ["-s", f"HTTPCACHE_DIR={temporary}/cache"]
        command = [sys.executable, "-m", "scrapy", "mirror", url, f"{temporary}/m", *options]
        with tempfile.TemporaryFile() as output:
            with ProcessWatch(with_memory=True) as watch:
                process = subprocess.run(
                    command, cwd=ROOT, stdout=output, stderr=output, check=False
                )
            if process.returncode:
                output.seek(0)
                words = output.read().decode(errors="replace")[-2000:]
                raise RunFailedError(f"{case.site}: status {process.returncode}\n{words}")
    return Cost(case, watch.cpu_secs, watch.peak_bytes)


def _write(root: Path, pages: int) -> None:
    """Write the sites; large files are sparse, each with a beginning of its own."""
    # An eighth as many bytes in a coding.
    content = b"".join(random.Random(seed).randbytes(2**12) * 8 for seed in range(2**9))
    content *= FILE_BYTES // len(content)
    for name, pack in {"plain": bytes, **_CODINGS}.items():
        _put(root, f"{name}/f.bin", pack(content))
        _put(root, f"{name}/index.html", _page(name, ["f.bin"]))
    for number in range(MANY_FILES):
        _put(root, f"many/{number}.bin", b"file %d " % number * 20)
    _put(root, "many/index.html", _page("many", [f"{number}.bin" for number in range(MANY_FILES)]))
    for number in range(pages):
        first = _LINKS * number + 1
        links = [f"{below}.html" for below in range(first, min(first + _LINKS, pages))]
        links += [f"{random.Random(first).randrange(1, pages)}.html", "index.html"]
        if number % _PAGES_A_FILE == 0:
            links.append(f"{number}.bin")
            _put(root, f"pages/{number}.bin", b"\0file %d " % number * 99)
            os.truncate(root / f"pages/{number}.bin", _LARGE_BYTES)
        name = f"{number}.html" if number else "index.html"
        _put(root, f"pages/{name}", _page(f"Page {number}", links))


def _page(title: str, links: Sequence[str]) -> bytes:
    listed = "\n".join(f'<p><a href="{link}">{link}</a></p>' for link in links)
    return _PAGE.format(title=title, text=prose(title, 250), links=listed).encode()


def _put(root: Path, path: str, content: bytes) -> None:
    place = root / path
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(content)
