"""Pages of a file of JSON lines, as ``crawl-once pages`` and feeds write them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from crawler.lab.sources.gathering import FileSource, Told, complaint
from neardup.batch.input_files import JSON_LINES, InputPart
from neardup.batch.rows import DAMAGE, LeftOut, Row, read_rows
from neardup.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

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
        try:
            yield from self._rows()
        except DAMAGE as error:
            raise InputError(f"{self.path}: damaged: {error}") from error

    def _rows(self) -> Generator[Told, None, None]:
        size = self.path.stat().st_size
        part = InputPart(0, str(self.path), JSON_LINES, 0, size)
        with self.path.open("rb") as file:
            for number, row in enumerate(read_rows(file, part, None), start=1):
                where = f"{self.path}, row {number}"
                if isinstance(row, LeftOut):
                    raise InputError(f"{where}: {row.reason}")
                if number == 1:
                    _check(where, row)
                self._progress = file.tell() / (size or 1)
                told = _told(where, row.values)
                if told is None:
                    self._left_out.add("without text or html")
                else:
                    yield told


def _check(where: str, row: Row) -> None:
    if not {_TEXT, _HTML} & row.values.keys():
        names = ", ".join(map(str, row.values)) or "none"
        raise InputError(f'{where}: a field "text" or "html" expected, there are {names}')


def _told(where: str, values: dict[str, Any]) -> Told | None:
    text, html = _text(where, values, _TEXT), _text(where, values, _HTML)
    if text is None and html is None:
        return None
    title = _text(where, values, "full_title") or _text(where, values, "title") or ""
    url = _text(where, values, "url") or ""
    if text is not None:
        return Told(url, title, text)
    body = (html or "").encode("utf-8", "replace")
    return Told(url, title, None, body, "text/html; charset=utf-8")


def _text(where: str, values: dict[str, Any], name: str) -> str | None:
    found = values.get(name)
    if found is not None and not isinstance(found, str):
        raise InputError(f'{where}: field "{name}" must be a text')
    return found
