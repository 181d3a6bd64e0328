"""Export the pages of a crawl for ``pages``: which of them, where to, in which format."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import xxhash
from lxml.etree import Element, SubElement

from crawler.console.command_line import checked_file
from crawler.console.escaping import say, whole_file
from crawler.console.options import CommandError
from crawler.mirror.paths import digest, free_path, path_key
from crawler.pages.export import (
    PageFilter,
    choices_met,
    chosen_pages,
    languages_met,
)
from crawler.pages.items import LINK_FORMATS, PAGE_FIELDS, ROW_FORMATS
from crawler.reading.content.content_text import Shown, html, markdown, plain_text, prepared, xml
from crawler.reading.content.content_xml import NOT_IN_XML, unpack_content
from crawler.storage.output_files import check_output
from crawler.suggestions import did_you_mean
from crawler.urls.parts import MalformedUrl
from neardup.files.durable import replacing
from neardup.installing import install_command
from neardup.languages import TELLS_TEXTS
from neardup.plurals import many

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Iterator

    from crawler.pages.boilerplate import HostBoilerplate

MEDIA_TYPES = {
    "markdown": "text/markdown",
    "text": "text/plain",
    "xml": "application/xml",
    "html": "text/html",
}
"""The formats of documents, each with its media type."""

_FRONT_MATTER = (
    "title", "author", "date", "modified", "url", "better_url", "sitename", "description",
    "language", "categories", "tags", "page_type", "words", "fetched_at",
)  # fmt: skip
# Languages that are written from right to left.
_RIGHT_TO_LEFT = frozenset("ar arc ckb dv fa he ks ps sd ug ur yi".split())
_BLOCKS = ("p", "head", "item", "quote", "row", "cell", "code")

# A string of JSON is one of YAML, but for characters that YAML calls unprintable.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


class PageWriter(NamedTuple):
    """Writes pages in one format.

    Attributes:
        kind: A key of ``MEDIA_TYPES``.
        shown: What is written beside the words.
        is_common: Tells of a URL and a block of its text whether that is boilerplate; None: none
            is left out. A content that is nothing else stays whole.
    """

    kind: str
    shown: Shown = Shown()
    is_common: Callable[[str, str], bool] | None = None

    def write(self, page: dict[str, Any], content: bytes) -> str:
        """Return a page as a document.

        Args:
            page: Fields of ``crawler.pages.items.Page``.
            content: Its content as it is stored.

        Raises:
            ContentError: The content cannot be read.
        """
        body = prepared(content, page["url"], self.shown)
        comments = body.getnext()
        if self.is_common is not None:
            body = _without(body, page["url"], self.is_common)
        if self.kind == "markdown":
            return f"{front_matter(page)}\n{markdown(body)}\n"
        if self.kind == "text":
            return f"{plain_text(body)}\n"
        if self.kind == "xml":
            return _xml_of(page, body, comments)
        return _html_of(page, body)


def front_matter(page: dict[str, Any]) -> str:
    """Return the metadata of a page as YAML between lines of three dashes."""
    fields = {name: page.get(name) for name in _FRONT_MATTER}
    lines = (f"{name}: {_yaml(value)}\n" for name, value in fields.items() if value)
    return f"---\n{''.join(lines)}---\n"


def _yaml(value: Any) -> str:
    shown_value = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", shown_value)


def _metadata(page: dict[str, Any]) -> dict[str, str]:
    """Return metadata as strings that XML can hold."""
    found = {}
    for name in _FRONT_MATTER:
        value = page.get(name)
        if value:
            shown_value = ";".join(map(str, value)) if isinstance(value, list) else str(value)
            found[name] = NOT_IN_XML.sub("", shown_value)
    return found


def _xml_of(page: dict[str, Any], body: Any, comments: Any) -> str:
    root = Element("doc", _metadata(page))
    body.tag = "main"
    root.extend([body] if comments is None else [body, comments])
    return f"{xml(root)}\n"


def _html_of(page: dict[str, Any], body: Any) -> str:
    root, head = html(body), Element("head")
    SubElement(head, "meta", charset="utf-8")
    metadata = _metadata(page)
    if language := metadata.get("language"):
        root.set("lang", language)
        if language.partition("-")[0].lower() in _RIGHT_TO_LEFT:
            root.set("dir", "rtl")
    SubElement(head, "title").text = metadata.get("title", metadata["url"])
    for name, value in metadata.items():
        SubElement(head, "meta", name=name, content=value)
    root.insert(0, head)
    return f"<!DOCTYPE html>\n{xml(root, method='html')}\n"


def _without(body: Any, url: str, is_common: Callable[[str, str], bool]) -> Any:
    """Return a content without the blocks that are boilerplate; whole if there is nothing else."""
    clean = deepcopy(body)
    for element in list(clean.iter(*_BLOCKS)):
        parent = element.getparent()
        cells = element.findall("cell") or [element]
        text = " ".join(" ".join("".join(cell.itertext()) for cell in cells).split())
        if parent is not None and text and is_common(url, text):
            before = element.getprevious()
            if element.tail and element.tail.strip():
                if before is None:
                    parent.text = f"{parent.text or ''} {element.tail}"
                else:
                    before.tail = f"{before.tail or ''} {element.tail}"
            parent.remove(element)
    return clean if "".join(clean.itertext()).strip() else body


_FORMATS = {*ROW_FORMATS, *MEDIA_TYPES}
_ENDINGS = {"md": "markdown", "txt": "text", "htm": "html"}


class Destination(NamedTuple):
    """The place that pages are written to, and their format.

    Attributes:
        name: A file, or ``-`` for standard output, or a folder for a file a page.
        kind: The format.
        is_folder: Whether each page has a file of its own.
    """

    name: str
    kind: str
    is_folder: bool

    @property
    def are_documents(self) -> bool:
        return self.is_folder or self.kind not in ROW_FORMATS


def say_what_there_is(connection: sqlite3.Connection, chosen: PageFilter, count: int) -> None:
    """Say how many kept pages declare no language, what there is if none was met, and all types."""
    for option, wanted, column, name in (
        ("--language", ",".join(chosen.languages), "language", "languages"),
        ("--type", chosen.selection.page_type, "page_type", "types"),
    ):
        met = choices_met(connection, column) if wanted else {}
        if (unknown := met.pop(None, 0)) and column == "language":
            way = "told by their texts"
            if not TELLS_TEXTS:
                way = f"left out; their texts tell it after {install_command('languages')}"
            sentence = f"{many(unknown, 'kept page')} without a declared language, {way}"
            say(sentence, to_stderr=True)
        if wanted and (not count or column == "page_type"):
            met = languages_met(connection) if column == "language" else met
            values = ", ".join(f"{value} {met[value]:,}" for value in list(met)[:10] if value)
            matched = f"{option} goes by a guess" if count else f"no page matches {option} {wanted}"
            sentence = f"{matched}; {name} of kept pages: {values or 'none is known'}"
            say(sentence, to_stderr=True)


def export_to(
    connection: sqlite3.Connection,
    folder: Path,
    chosen: PageFilter,
    to: Destination,
    shown: Shown,
    *,
    without_boilerplate: bool,
) -> Iterator[int]:
    """Write pages; yield how many are written so far, after each file that is complete."""
    boilerplate = _boilerplate(connection, folder) if without_boilerplate else None
    is_common = None if boilerplate is None else boilerplate.is_boilerplate
    found = chosen_pages(connection, chosen)
    if not to.are_documents:
        rows = _rows(found, is_common)
        fields = [*PAGE_FIELDS, "text_of"] if chosen.with_copies else PAGE_FIELDS
        yield write_rows(rows, to.name, to.kind, fields)
        return
    writer = PageWriter(to.kind, shown, is_common)
    pages = ((page, content) for page, content in found if content is not None)
    if to.is_folder:
        paths = PagePaths(to.kind)
        yield from write_files(pages, writer, Path(to.name), paths)
        _say_others(to.name, paths)
    else:
        yield write_together(pages, writer, to.name)


def _rows(
    found: Iterable[tuple[dict[str, Any], bytes | None]],
    is_common: Callable[[str, str], bool] | None,
) -> Iterator[dict[str, Any]]:
    """Yield the mapping of each page, with a text without boilerplate where that is told."""
    for page, content in found:
        if is_common is not None and content is not None:
            page["text"] = plain_text(_without(unpack_content(content), page["url"], is_common))
        yield page


def write_rows(
    rows: Iterable[dict[str, Any]], name: str, kind: str, fields: Collection[str]
) -> int:
    """Write fields of rows to a file, or to standard output for ``-``; return how many rows."""
    count = 0
    with whole_file(name, kind) as file:
        if kind not in {"jsonl", "jl"}:
            from crawler.feeds.exporters import export  # noqa: PLC0415  # with Scrapy, half a second

            return export(rows, file, kind, fields)
        for count, row in enumerate(rows, 1):  # noqa: B007
            chosen = {field: row.get(field) for field in fields}
            file.write(f"{json.dumps(chosen, ensure_ascii=False)}\n".encode())
    return count


def _say_others(folder: str, paths: PagePaths) -> None:
    """Say which documents of earlier exports lie in a folder and are none of this one."""
    others, endings = Counter[str](), frozenset(_FILE_ENDINGS.values())
    for place, _, names in os.walk(folder):
        for name in names:
            ending = os.path.splitext(name)[1].lower()
            path = Path(place, name).relative_to(folder).as_posix()
            if ending in endings and not paths.has(path):
                others[ending] += 1
    if count := others.total():
        kinds = ", ".join(f"{number:,} {ending}" for ending, number in sorted(others.items()))
        files = many(count, "file belongs", "files belong")
        say(f"{folder}: {files} to no page of this export, left there: {kinds}", to_stderr=True)


def _boilerplate(connection: sqlite3.Connection, folder: Path) -> HostBoilerplate | None:
    """Return what the hosts of a crawl repeat, None where nothing is repeated."""
    from crawler.pages.boilerplate import HostBoilerplate  # noqa: PLC0415  # needs NumPy

    boilerplate = HostBoilerplate(connection.execute)
    if boilerplate.is_any_known:
        return boilerplate
    say(f"{folder}: no boilerplate is known of any host, so texts are whole", to_stderr=True)
    return None


def destination(output: str, wanted: str | None) -> Destination:
    """Return where ``-o FILE``, ``-o FILE:FORMAT`` or ``-o DIR/`` leads.

    Raises:
        CommandError: There is no such format or directory, or the two options name two formats.
    """
    wanted = None if wanted is None else _ENDINGS.get(wanted, wanted)
    if wanted is not None and wanted not in _FORMATS:
        names = sorted(_FORMATS)
        hint = did_you_mean(wanted, names) or f"; there are {', '.join(names)}"
        raise CommandError(f"--format {wanted}: no such format{hint}")
    are_documents = wanted is not None and wanted not in ROW_FORMATS
    is_folder = are_documents and not Path(output).suffix and ":" not in output
    if output != "-" and (is_folder or output.endswith(("/", os.sep)) or Path(output).is_dir()):
        return _folder(output, wanted or "markdown")
    name, named = _named(output, _FORMATS)
    kind = wanted or named
    if kind not in _FORMATS:
        raise CommandError(
            f"-o {output}: its ending names no format; there are {', '.join(sorted(_FORMATS))}"
        )
    if name != output and wanted and wanted != named:
        raise CommandError(f"-o {output} and --format {wanted} name two formats")
    if kind == "html":
        raise CommandError("html is written one file a page: -o DIR/ --format html")
    return _file(name, kind)


def link_destination(output: str) -> Destination:
    """Return where ``-o FILE`` or ``-o FILE:FORMAT`` leads the links of a crawl.

    Raises:
        CommandError: There is no such format or directory.
    """
    name, kind = _named(output, LINK_FORMATS)
    if kind not in LINK_FORMATS:
        hint = did_you_mean(kind, LINK_FORMATS) or f"; there are {', '.join(LINK_FORMATS)}"
        raise CommandError(f"-o {output}: its ending names no format{hint}")
    return _file(name, kind)


def _named(output: str, formats: Collection[str]) -> tuple[str, str]:
    """Return the file of ``-o`` and the format that it names, by ``:FORMAT`` or by its ending."""
    name, colon, named = output.rpartition(":")
    if colon and named in formats:
        return name, named
    if output == "-":
        return output, "jsonl"
    ending = Path(output).suffix.lstrip(".").lower()
    return output, _ENDINGS.get(ending, ending)


def _file(name: str, kind: str) -> Destination:
    if name == "-" and kind == "parquet" and sys.stdout.isatty():
        raise CommandError(
            f"parquet cannot be shown on a terminal; name a file, such as -o a.{kind}"
        )
    return Destination(checked_file(name, "-o"), kind, is_folder=False)


def _folder(output: str, kind: str) -> Destination:
    if kind not in MEDIA_TYPES:
        raise CommandError(
            f"-o {output}: a folder takes {', '.join(MEDIA_TYPES)}; "
            f"{kind} is one file: -o pages.{kind}"
        )
    if Path(output).exists() and not Path(output).is_dir():
        raise CommandError(f"-o {output}: is a file, a folder is needed")
    check_output(Path(output) / "page")
    return Destination(output, kind, is_folder=True)


_FILE_ENDINGS = {"markdown": ".md", "text": ".txt", "xml": ".xml", "html": ".html"}


class PagePaths:
    """Chooses a path for each page, different on every file system; the same pages get the same.

    Args:
        kind: A key of ``MEDIA_TYPES``.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        # Digests of the keys: millions of paths fit.
        self._files: set[int] = set()
        self._folders: set[int] = set()

    def path_of(self, url: str) -> str:
        """Return the path of the next page, parts joined by "/"."""
        try:
            path = free_path(url, MEDIA_TYPES[self._kind], self._is_file, self._is_folder)
        except MalformedUrl:  # of an item of another spider
            path = self._plain_path(url)
        self._files.add(_hash(path_key(path)))
        folder = path
        while folder := folder.rpartition("/")[0]:
            self._folders.add(_hash(path_key(folder)))
        return path

    def has(self, path: str) -> bool:
        """Return whether a page has this path."""
        return self._is_file(path_key(path))

    def _plain_path(self, url: str) -> str:
        name, number = f"page~{digest(url)}", 1
        path = f"{name}{_FILE_ENDINGS[self._kind]}"
        while self._is_file(path_key(path)):
            number += 1
            path = f"{name}-{number}{_FILE_ENDINGS[self._kind]}"
        return path

    def _is_file(self, key: str) -> bool:
        return _hash(key) in self._files

    def _is_folder(self, key: str) -> bool:
        return _hash(key) in self._folders


def _hash(key: str) -> int:
    return xxhash.xxh3_64_intdigest(key.encode("utf-8", "surrogatepass"))


def write_files(
    pages: Iterable[tuple[dict[str, Any], bytes]],
    writer: PageWriter,
    folder: Path,
    paths: PagePaths,
) -> Iterator[int]:
    """Write each page into a file below a folder, which is made; yield how many there are so far.

    A file appears under its name only when it is complete, and takes the place of one that an
    earlier export left there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for count, (page, content) in enumerate(pages, 1):
        path = folder / paths.path_of(page["url"])
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with replacing(path) as file:  # another export may write to the same folder
                file.write(writer.write(page, content).encode("utf-8", "replace"))
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        yield count


def write_together(
    pages: Iterable[tuple[dict[str, Any], bytes]], writer: PageWriter, name: str
) -> int:
    """Write all pages into one file, ``-`` for standard output; return how many."""
    count = 0
    with whole_file(name, writer.kind) as file:
        for page, content in pages:
            separator = b"\n" if count else b""
            file.write(separator + writer.write(page, content).encode("utf-8", "replace"))
            count += 1
    return count
