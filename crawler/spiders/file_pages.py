"""Read the pages of HTML files and of JSON lines as if an archive held them, for a replay."""

from __future__ import annotations

import logging
import os
import re
from collections import Counter
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawler.warc.sources import ENDINGS, WarcFile
from neardup.batch.input_files import JSON_LINES, InputPart
from neardup.batch.rows import DAMAGE, LeftOut, read_rows
from neardup.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

logger = logging.getLogger(__name__)

_LINES = (".jsonl", ".ndjson", ".jl", ".jsonl.gz", ".ndjson.gz", ".jl.gz")
_HTML = re.compile(r"\.(?:x?html?|shtml)(?:[?@&].*)?\Z", re.IGNORECASE)
"""Names of files with HTML; programs that save sites append a query to the ending."""

_FIELDS = ("url", "text", "html", "title", "full_title")
_TITLE = re.compile(r"<title\b", re.IGNORECASE)


class FilePage(NamedTuple):
    """A page of a file.

    Attributes:
        url: The URL, or any other name of the page.
        body: HTML, or a text in UTF-8.
        content_type: The content type of HTML; None: the body is a text that came without a page.
        title: The title of a text; that of HTML stands in it.
        source: The file or folder.
        end: How many lines of the file are taken with this page; 0 in a folder.
    """

    url: str
    body: bytes
    content_type: str | None
    title: str
    source: WarcFile
    end: int


def page_files(word: str) -> list[Path]:
    """Return the HTML files, folders of them and files of JSON lines that a word names.

    Args:
        word: The names of files and folders, separated by commas.

    Returns:
        None of them where the word names archives.

    Raises:
        ValueError: A folder has neither archives nor HTML, archives are named too, or a path cannot
            be read.
    """
    names = [word] if word and Path(word).exists() else [name.strip() for name in word.split(",")]
    paths = [Path(name) for name in names if name]
    try:
        found = [path for path in paths if _has_pages(path)]
    except OSError as error:
        raise ValueError(f"-a warc: {error.filename}: {error.strerror}") from None
    if found and len(found) < len(paths):
        raise ValueError("-a warc: archives and other files cannot be replayed together")
    return found


def _has_pages(path: Path) -> bool:
    if not path.is_dir():
        path.stat()
        return path.name.lower().endswith(_LINES) or _HTML.search(path.name) is not None
    if any(file.name.lower().endswith((*ENDINGS, ".wacz")) for file in path.iterdir()):
        return False
    if next(_html_files(path), None) is None:
        raise ValueError(f"-a warc: {path}: no WARC files and no HTML files in it")
    return True


def _html_files(path: Path) -> Iterator[Path]:
    """Yield the HTML files in a folder and below it, in the order of their names.

    Hidden folders and folders that are symbolic links are left out.
    """
    if not path.is_dir():
        yield path
    for above, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if _HTML.search(name):
                yield path / above / name


class PageFiles:
    """The pages of files, read as ``Captures`` reads those of an archive.

    An HTML file has its ``file:`` URL. A JSON line has ``text``, or ``html`` to read it from, and
    may have ``url`` and ``title``, as ``crawl-once pages`` and feeds write them. One without a URL,
    or with that of a line before it, is named by its place: each line is a page.

    Args:
        paths: The paths, as ``page_files`` returns them.
        max_bytes: The largest size of an HTML file.
        key_of: Function that returns the key of the page of a URL, or of any other name.

    Attributes:
        skipped: How many files and lines gave no page.
        left_out: How many lines have neither text nor HTML.
    """

    def __init__(
        self, paths: Sequence[Path], max_bytes: int, key_of: Callable[[str], bytes]
    ) -> None:
        self._paths, self._max_bytes, self._key_of = paths, max_bytes, key_of
        self.skipped = 0
        self.left_out: Counter[str] = Counter()

    def close(self) -> None:
        """Free nothing: a file is open while it is read."""

    def look_through(self) -> Iterator[None]:
        """Look at nothing before the pages are read."""
        return iter(())

    def pages(self, start_of: Callable[[WarcFile], int]) -> Iterator[FilePage]:
        """Yield the pages.

        Args:
            start_of: Function that returns how many lines of a file an earlier process has taken.
                Of a folder all files are read again, since any of them may be new.

        Raises:
            InputError: A line is no JSON object, or one of its fields is of another type.
        """
        for path in self._paths:
            source = WarcFile(str(path), path)
            if path.name.lower().endswith(_LINES) and path.is_file():
                yield from self._of_lines(source, start_of(source))
            else:
                yield from self._of_html(source)

    def _of_html(self, source: WarcFile) -> Iterator[FilePage]:
        for file in _html_files(source.path.resolve()):
            try:
                if not file.is_file():
                    self._skip(f"{file}: no file, or a link that leads nowhere")
                elif file.stat().st_size > self._max_bytes:
                    self._skip(f"{file}: larger than {self._max_bytes >> 20} MiB")
                else:
                    yield FilePage(file.as_uri(), file.read_bytes(), "text/html", "", source, 0)
            except OSError as error:
                self._skip(f"{file}: {error.strerror or error}")

    def _of_lines(self, source: WarcFile, start: int) -> Iterator[FilePage]:
        met: set[bytes] = set()
        for number, fields in enumerate(_lines(source.path), start=1):
            url = fields.get("url") or ""
            if not url or self._key_of(url) in met:
                url = f"{source.path.resolve().as_uri()}#{number}"
            met.add(self._key_of(url))
            if number > start:
                yield from self._of_line(source, number, url, fields)

    def _of_line(
        self, source: WarcFile, number: int, url: str, fields: dict[str, str | None]
    ) -> Iterator[FilePage]:
        text, html = fields.get("text"), fields.get("html")
        title = fields.get("full_title") or fields.get("title") or ""
        if text is not None:
            yield FilePage(url, text.encode("utf-8", "replace"), None, title, source, number)
        elif html is not None:
            if title and not _TITLE.search(html):
                html = f"<title>{escape(title)}</title>{html}"
            body = html.encode("utf-8", "replace")
            yield FilePage(url, body, "text/html; charset=utf-8", title, source, number)
        else:
            self.left_out["lines without text or html"] += 1
            if number == 1:
                names = ", ".join(fields) or "none"
                raise InputError(
                    f'{source.path}, row 1: a field "text" or "html" expected, there are {names}'
                )

    def _skip(self, why: str) -> None:
        self.skipped += 1
        logger.warning(why)


def _lines(path: Path) -> Iterator[dict[str, str | None]]:
    """Yield the fields of each line.

    Raises:
        InputError: A line is no object, a field that is read is no text, or the file is damaged.
    """
    part = InputPart(0, str(path), JSON_LINES, 0, path.stat().st_size)
    try:
        with path.open("rb") as file:
            for number, row in enumerate(read_rows(file, part, None), start=1):
                where = f"{path}, row {number}"
                if isinstance(row, LeftOut):
                    raise InputError(f"{where}: {row.reason}")
                for name in _FIELDS:
                    if not isinstance(row.values.get(name), str | None):
                        raise InputError(f'{where}: field "{name}" must be a text')
                yield row.values
    except DAMAGE as error:
        raise InputError(f"{path}: damaged: {error}") from error
