"""Pages of a file of JSON lines, as ``crawl-once pages`` and feeds write them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from crawler.lab.sources.gathering import FileSource, Told, complaint
from neardup.command_line.row_formats import JSON_LINES, open_rows

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from neardup.command_line.row import Row

_SLICE = 1_000

_TEXT, _HTML = "text", "html"


class JsonLinesSource(FileSource):
    """A page a line: ``text``, or ``html`` to read it from, ``url`` and ``title``.

    Lines without a text are left out, such as the duplicates that ``crawl-once pages`` names.

    Args:
        path: May be gzip.

    Raises:
        SourceError: It cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.open("rb").close()
        except OSError as error:
            raise complaint(path, error) from None
        super().__init__(path)
        self._told = self._tell()

    @property
    def notes(self) -> Sequence[str]:
        return self._left_out.notes("lines") + self._gathering.notes

    def close(self) -> None:
        self._told.close()
        super().close()

    def _next(self) -> list[Told] | None:
        return list(islice(self._told, _SLICE)) or None

    def _tell(self) -> Generator[Told, None, None]:
        with open_rows(str(self.path), JSON_LINES) as source:
            for number, row in enumerate(source.rows):
                if number == 0:
                    _check(row)
                self._progress = source.position() / (source.total or 1)
                told = _told(row)
                if told is None:
                    self._left_out.add("without text or html")
                else:
                    yield told


def _check(row: Row) -> None:
    if not {_TEXT, _HTML} & row.fields.keys():
        names = ", ".join(map(str, row.fields)) or "none"
        raise row.complaint(f'a field "text" or "html" expected, there are {names}')


def _told(row: Row) -> Told | None:
    text, html = row.text(_TEXT), row.text(_HTML)
    if text is None and html is None:
        return None
    url, title = row.text("url") or "", row.text("full_title") or row.text("title") or ""
    if text is not None:
        return Told(url, title, text)
    body = (html or "").encode("utf-8", "replace")
    return Told(url, title, None, body, "text/html; charset=utf-8")
