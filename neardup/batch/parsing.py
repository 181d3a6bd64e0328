"""Pages of a part of a file."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from itertools import islice
from typing import Any, BinaryIO, Protocol, cast

from neardup.batch.input_files import (
    ROW_FORMATS,
    Fields,
    File,
    InputOptions,
    InputPart,
    file_system,
)
from neardup.batch.rows import DAMAGE, DAMAGED, LeftOut, Names, Row, read_rows, value_of
from neardup.errors import InputError

GROUP = "neardup.readers"
"""The group of entry points; each names a ``Reader`` for a format, such as ``warc``.

Text extraction of pages is the business of crawlers, and this library knows none.
"""

_LOOKED_AT = 1_000
"""A field is missing where this many rows of each file lack it."""

_MAX_NAMED = 20

NO_TEXT = "no text in the field "
"""The reason begins so where a row has no text."""


@dataclass(frozen=True, slots=True)
class WebPage:
    """A text of a file, with what its page says of itself.

    Attributes:
        position: The place in its file; it ascends from page to page.
        name: The name for people, such as its URL.
        text: The text to judge and to store.
        is_main: Whether a fingerprint may stand for it; else only equality counts.
        visible_digest: ``text_digest`` of all that the page shows, which is what counts where no
            fingerprint stands for the text; None: the text is all there is.
        title: The title; None where the page has none.
        date: The time at which it was fetched or published, as its source writes it; None where it
            is not known.
        language: The languages that it declares, with commas between them; None: it declares none.
    """

    position: int
    name: str
    text: str
    is_main: bool = True
    visible_digest: bytes | None = None
    title: str | None = None
    date: str | None = None
    language: str | None = None


class Reader(Protocol):
    """Reads a seekable file from its beginning to its end, in bounded memory."""

    @property
    def extractors(self) -> Sequence[str]:
        """The names of what finds the main text of a page; the first one is the default."""

    def __call__(self, file: BinaryIO, extractor: str = ...) -> Iterator[WebPage | LeftOut]: ...


@cache
def reader_of(format_name: str) -> Reader:
    """Return the reader that is installed for a format, or raise InputError."""
    for entry in entry_points(group=GROUP, name=format_name):
        try:
            found: Reader = entry.load()
        except ImportError as error:
            raise InputError(f"the reader of {format_name} files: {error}") from error
        return found
    raise InputError(
        f"{format_name} files need their reader: pip install crawl-once installs it "
        f"(entry points {GROUP})"
    )


def extractor_of(files: Iterable[File], wanted: str | None) -> str | None:
    """Return what finds the main text of pages of some files; None: all have texts in rows.

    Args:
        files: The files.
        wanted: The extractor that was asked for; None: the reader's first one.

    Raises:
        InputError: No reader is installed or has the extractor, or no file needs one.
    """
    formats = {file.format for file in files} - {*ROW_FORMATS}
    if wanted is not None and not formats:
        raise InputError("--extractor is for WARC; texts of rows are taken as they are")
    for name in formats:
        known = reader_of(name).extractors
        if wanted not in {None, *known}:
            raise InputError(f"--extractor takes {' or '.join(known)}, got {wanted}")
        return wanted or known[0]
    return None


def check_fields(files: Iterable[File], fields: Fields) -> None:
    """Refuse a field that was named and that no row has, as far as the first rows of files tell.

    Raises:
        InputError: There is none; the message names those that there are.
    """
    missing = {option: name for option, name in fields._asdict().items() if name is not None}
    there: dict[str, None] = {}
    for file in files if missing else ():
        for values in _first_rows(file):
            there.update(dict.fromkeys(values))
            for option, name in list(missing.items()):
                if name in values or value_of(values, (name,)) is not None:
                    del missing[option]
            if not missing:
                return
    if there:
        option, name = missing.popitem()
        known = ", ".join(islice(there, _MAX_NAMED))
        raise InputError(
            f'no row has a field "{name}", as far as the first {_LOOKED_AT:,} of each file tell; '
            f"there are {known}; choose with --{'id' if option == 'name' else option}-field"
        )


def _first_rows(file: File) -> Iterator[dict[str, Any]]:
    if file.format in ROW_FORMATS:
        part = InputPart(0, file.path, file.format, 0, file.size)
        with suppress(*DAMAGE), opened_part(part) as opened:
            for found in islice(read_rows(opened, part, None), _LOOKED_AT):
                if not isinstance(found, LeftOut):
                    yield found.values


def read_part(part: InputPart, options: InputOptions) -> Iterator[WebPage | LeftOut]:
    """Yield the pages of a part, and a ``LeftOut`` for each damaged record, without raising.

    Raises:
        InputError: No installed reader reads the format.
    """
    try:
        for found in _pages(part, options):
            other = None
            if isinstance(found, WebPage):
                other = options.other_language(found.language, found.text)
            yield found if other is None else LeftOut(f"in another language: {other}")
    except DAMAGE as error:
        yield LeftOut(f"{DAMAGED}: {str(error).splitlines()[0] if str(error) else 'it breaks off'}")


@contextmanager
def opened_part(part: InputPart) -> Iterator[Any]:
    """Open the file of a part as one of pyarrow, while a ``with`` block lasts."""
    system, inner = file_system(part.path)
    with system.open_input_file(inner) as file:
        yield file


def _pages(part: InputPart, options: InputOptions) -> Iterator[WebPage | LeftOut]:
    with opened_part(part) as file:
        if part.format in ROW_FORMATS:
            names = options.fields.names
            for found in read_rows(file, part, names):
                yield found if isinstance(found, LeftOut) else _page(found, part.path, names)
        else:
            reader = reader_of(part.format)
            yield from reader(cast("BinaryIO", file), options.extractor or reader.extractors[0])


def _page(row: Row, path: str, names: Names) -> WebPage | LeftOut:
    text, name, title, date, language = (value_of(row.values, some) for some in names)
    if not isinstance(text, str):
        return LeftOut(f'{NO_TEXT}"{names[0][0]}"')
    if isinstance(name, bool | dict | list | None):
        name = f"{path}#{row.position}"
    return WebPage(
        row.position,
        _sound(str(name)),
        _sound(text),
        title=_sound(title) if isinstance(title, str) else None,
        date=None if date is None else _sound(str(date)),
        language=language if isinstance(language, str) else None,
    )


def _sound(text: str) -> str:
    # Half of a surrogate pair, which JSON can spell, has no place in a parquet file.
    return text.encode("utf-8", "replace").decode()
