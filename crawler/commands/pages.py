"""``scrapy pages DIR``: the pages of a crawl as rows of a table, or as documents."""

from __future__ import annotations

import argparse
import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawler.console.command_line import CommandError, PlainCommand, one_directory
from crawler.console.escaping import say
from crawler.feeds.exporters import EXPORTERS, export
from crawler.feeds.page_files import write_files, write_together
from crawler.feeds.page_writers import MEDIA_TYPES, PageWriter, text_without
from crawler.options import did_you_mean
from crawler.pages.export import (
    KEPT_FILTER,
    PageFilter,
    choices_met,
    export_contents,
    export_pages,
)
from crawler.pages.verdicts import VERDICTS
from crawler.reading.content.content_text import Shown
from crawler.reading.content.content_xml import DOCUMENT, PAGE_TYPES, ContentError
from crawler.storage.database import open_for_reading
from crawler.storage.output_files import check_output

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from crawler.pages.boilerplate import HostBoilerplate

_FORMATS = {*EXPORTERS, *MEDIA_TYPES}
_TYPES = (*PAGE_TYPES, DOCUMENT)
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
        return self.is_folder or self.kind not in EXPORTERS


class PagesCommand(PlainCommand):
    """Exports the newest capture of each URL: rows of a table, or documents of their content."""

    usage = "[-o FILE|DIR/] [--format F] [--verdict V] [--without-boilerplate] DIR"
    summary = "Export the pages of a crawl as a table, or as Markdown, text, XML or HTML"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "-o",
            "--output",
            metavar="FILE",
            default="-",
            help="where to; the ending gives the format, FILE:FORMAT names it (default: jsonl to "
            "standard output); with DIR/ each page becomes a file that is named like its URL",
        )
        parser.add_argument(
            "--format",
            metavar="F",
            help="rows of a table: jsonl, json, csv, xml, parquet; documents of the main content: "
            "markdown (with metadata in front), text, and with -o DIR/ also xml and html",
        )
        parser.add_argument(
            "--verdict",
            metavar="V",
            help="without it, all URLs are exported, a row a URL; with it, only these: "
            f"{KEPT_FILTER} (every page whose text is stored, each once), "
            f"{', '.join(VERDICTS)}",
        )
        parser.add_argument(
            "--language",
            metavar="CODE",
            help="only pages that declare this language (html lang, meta, JSON-LD): en, which is "
            "en-GB too, or pt-BR; their text is not looked at",
        )
        parser.add_argument(
            "--min-words", metavar="N", help="only pages whose exported text has as many words"
        )
        parser.add_argument(
            "--type", metavar="TYPE", help=f"only pages of this type: {', '.join(_TYPES)}"
        )
        for name, shown, default in (("links", "links", True), ("images", "images", False)):
            parser.add_argument(
                f"--{name}",
                action=argparse.BooleanOptionalAction,
                help=f"whether documents hold {shown} (default: {'yes' if default else 'no'})",
            )
        parser.add_argument(
            "--without-boilerplate",
            action="store_true",
            help="leave out of the texts what ten pages of their host and a tenth of all repeat; a "
            "text that is nothing else stays whole; words, digests and fingerprints are those of "
            "the whole text",
        )

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Export a crawl directory."""
        folder = Path(one_directory(args))
        chosen = _filter(opts)
        to = _destination(opts.output, opts.format)
        if not to.are_documents and (opts.links is not None or opts.images is not None):
            raise CommandError(f"--links and --images are for documents, got --format {to.kind}")
        count = 0
        try:
            with closing(open_for_reading(folder)) as connection:
                for count in _export(connection, folder, chosen, to, opts):  # noqa: B007
                    pass
                if count == 0:
                    _say_what_there_is(connection, chosen)
        except KeyboardInterrupt:
            self.after_interrupt = _after_interrupt(to, count)
            raise
        except ContentError as error:
            hint = f"scrapy verify {folder} --repair makes it of the text"
            said = f"{folder}: a stored content cannot be read: {error}"
            raise CommandError(f"{said}; {hint}") from None
        if to.is_folder:
            say(f"{count:,} files in {to.name}", to_stderr=True)
        elif to.name != "-":
            say(f"{count:,} {'pages' if to.are_documents else 'rows'} in {to.name}", to_stderr=True)


def _say_what_there_is(connection: sqlite3.Connection, chosen: PageFilter) -> None:
    """Name the languages and types that the pages of a crawl have, where none is the chosen one."""
    for option, wanted, column, name in (
        ("--language", chosen.language, "language", "languages"),
        ("--type", chosen.page_type, "page_type", "types"),
    ):
        if wanted is not None:
            met = choices_met(connection, column)
            values = ", ".join(f"{value} {count:,}" for value, count in met.items())
            said = f"no page is chosen by {option} {wanted}; {name} of all pages: "
            say(said + (values or "none is known"), to_stderr=True)


def _after_interrupt(to: Destination, count: int) -> str:
    """Return what holds after Ctrl-C."""
    if to.is_folder:
        written = f"{count:,} files in {to.name} are written, and whole"
        return f"interrupted: {written}; run it again for the others"
    return "interrupted" if to.name == "-" else f"interrupted; nothing was written to {to.name}"


def _filter(opts: argparse.Namespace) -> PageFilter:
    choices = (KEPT_FILTER, *VERDICTS)
    if opts.verdict is not None and opts.verdict not in choices:
        if "," in opts.verdict:
            raise CommandError(f"--verdict {opts.verdict}: one verdict is taken; export each")
        hint = did_you_mean(opts.verdict, choices)
        raise CommandError(f"--verdict {opts.verdict}: no such verdict{hint}")
    if opts.type is not None and opts.type not in _TYPES:
        hint = did_you_mean(opts.type, _TYPES)
        raise CommandError(f"--type {opts.type}: no such type of page{hint}")
    from crawler.console.lab_options import whole

    min_words = 0 if opts.min_words is None else whole(opts.min_words, "--min-words", 0)
    return PageFilter(opts.verdict, opts.language, min_words, opts.type)


def _export(
    connection: sqlite3.Connection,
    folder: Path,
    chosen: PageFilter,
    to: Destination,
    opts: argparse.Namespace,
) -> Iterator[int]:
    """Write pages; yield how many are written so far, after each file that is complete."""
    boilerplate = _boilerplate(connection, folder) if opts.without_boilerplate else None
    is_common = None if boilerplate is None else boilerplate.is_boilerplate
    if not to.are_documents:

        def clean(url: str, content: bytes) -> str:
            assert is_common is not None
            return text_without(content, url, is_common)

        rows = export_pages(connection, chosen, None if is_common is None else clean)
        yield export(rows, to.name, to.kind)
        return
    shown = Shown(links=opts.links is not False, images=bool(opts.images))
    writer, pages = PageWriter(to.kind, shown, is_common), export_contents(connection, chosen)
    if to.is_folder:
        yield from write_files(pages, writer, Path(to.name))
    else:
        yield write_together(pages, writer, to.name)


def _boilerplate(connection: sqlite3.Connection, folder: Path) -> HostBoilerplate | None:
    """Return what the hosts of a crawl repeat, None where nothing is repeated."""
    from crawler.pages.boilerplate import HostBoilerplate

    boilerplate = HostBoilerplate(connection.execute)
    if boilerplate.is_any_known:
        return boilerplate
    say(f"{folder}: no host is known to repeat anything, so texts are whole", to_stderr=True)
    return None


def _destination(output: str, wanted: str | None) -> Destination:
    """Return where ``-o FILE``, ``-o FILE:FORMAT`` or ``-o DIR/`` leads."""
    if wanted is not None and wanted not in _FORMATS:
        hint = did_you_mean(wanted, sorted(_FORMATS))
        raise CommandError(f"--format {wanted}: no such format{hint}")
    if output != "-" and (output.endswith(("/", os.sep)) or Path(output).is_dir()):
        return _folder(output, wanted or "markdown")
    name, colon, named = output.rpartition(":")
    if not colon or named not in _FORMATS:
        name, named = output, "" if output == "-" else Path(output).suffix.lstrip(".").lower()
    kind = wanted or _ENDINGS.get(named, named) or ("jsonl" if name == "-" else "")
    if kind not in _FORMATS:
        raise CommandError(
            f"-o {output}: its ending names no format; there are {', '.join(sorted(_FORMATS))}"
        )
    if colon and name != output and wanted and wanted != named:
        raise CommandError(f"-o {output} and --format {wanted} name two formats")
    if kind == "html":
        raise CommandError("html is written as a file a page: -o DIR/ --format html")
    if name != "-":
        if not Path(name).parent.is_dir():
            raise CommandError(f"-o {output}: no such directory: {Path(name).parent}")
        check_output(Path(name))
    return Destination(name, kind, is_folder=False)


def _folder(output: str, kind: str) -> Destination:
    if kind not in MEDIA_TYPES:
        raise CommandError(
            f"-o {output}: a file a page is {', '.join(MEDIA_TYPES)}; "
            f"{kind} is one file: -o pages.{kind}"
        )
    if Path(output).exists() and not Path(output).is_dir():
        raise CommandError(f"-o {output}: is a file, a folder is needed")
    check_output(Path(output) / "page")
    return Destination(output, kind, is_folder=True)
