"""Pages of a file of JSON lines, as ``scrapy pages`` and feeds write them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from crawler.lab.sources.gathering import Gathering, Told
from crawler.lab.sources.source import SourceError
from neardup.command_line.errors import InputError
from neardup.command_line.rows.row_formats import JSON_LINES, open_rows
from neardup.parameters import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from crawler.lab.lab_page import LabPage
    from crawler.lab.sources.source import PageSource
    from neardup import Parameters
    from neardup.command_line.rows.row import Row

_SLICE = 1_000

_TEXT, _HTML = "text", "html"


class JsonLinesSource:
    """A page a line: ``text``, or ``html`` to read it from, ``url`` and ``title``.

    Lines without a text are left out, such as the duplicates that ``scrapy pages`` names.

    Args:
        path: May be gzip.

    Raises:
        SourceError: It cannot be opened.
    """

    folder: Path | None = None

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        self._gathering = Gathering()
        self._without_text = 0
        self._progress = 0.0
        self._told = self._tell()
        try:
            path.open("rb").close()
        except OSError as error:
            self.close()
            raise _complaint(path, error) from None

    @property
    def parts(self) -> Sequence[PageSource]:
        """See the protocol."""
        return (self,)

    @property
    def notes(self) -> Sequence[str]:
        """See the protocol."""
        own = [f"lines left out: {self._without_text:,}: without text or html"]
        return (own if self._without_text else []) + self._gathering.notes

    @property
    def progress(self) -> float:
        """See the protocol."""
        return self._progress

    def parameters(self) -> Parameters:
        """See the protocol."""
        return DEFAULTS

    def read_new(self) -> list[LabPage]:
        """See the protocol."""
        try:
            while told := list(islice(self._told, _SLICE)):
                pages = self._gathering.take(told)
                if pages:
                    return pages
        except (InputError, OSError) as error:
            raise _complaint(self.path, error) from None
        self._progress = 1.0
        return []

    def texts(self, ids: Sequence[int]) -> Iterator[str | None]:
        """See the protocol."""
        return self._gathering.texts(ids)

    def is_superseded(self) -> bool:
        """See the protocol."""
        return False

    def close(self) -> None:
        """See the protocol."""
        self._told.close()
        self._gathering.close()

    def _tell(self) -> Generator[Told, None, None]:
        with open_rows(str(self.path), JSON_LINES) as source:
            for number, row in enumerate(source.rows):
                if number == 0:
                    _check(row)
                self._progress = source.position() / (source.total or 1)
                told = _told(row)
                if told is None:
                    self._without_text += 1
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
    url, title = row.text("url") or "", row.text("title") or ""
    if text is not None:
        return Told(url, title, text)
    body = (html or "").encode("utf-8", "replace")
    return Told(url, title, None, body, "text/html; charset=utf-8")


def _complaint(path: Path, error: InputError | OSError) -> SourceError:
    if isinstance(error, OSError):
        return SourceError(f"{path}: {error.strerror or error}")
    return SourceError(str(error))
