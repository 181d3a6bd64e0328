"""``crawl-once pages DIR``: the pages of a crawl as rows of a table, or as documents."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, one_directory
from crawler.console.escaping import say
from neardup.plurals import many

if TYPE_CHECKING:
    from crawler.console.page_export import Destination


class PagesCommand(PlainCommand):
    """Exports the newest capture of each URL: rows of a table, or documents of their content."""

    usage = "[-o FILE|DIR/] [--format F] [--verdict V] [--without-boilerplate] DIR"
    summary = "Export the pages of a crawl as a table, or as Markdown, text, XML or HTML"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        from crawler.console.page_options import add_page_options
        from crawler.pages.export import KEPT_FILTER
        from crawler.pages.verdicts import VERDICTS

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
            help="export only URLs of this verdict (default: all URLs, one row each): "
            f"{KEPT_FILTER} (every page whose text is stored, each once; its field away says what "
            "a later visit found where there was no page any more), "
            f"{', '.join(VERDICTS)}",
        )
        parser.add_argument(
            "--language",
            metavar="CODES",
            help="only pages that declare one of these languages (html lang, meta, JSON-LD), such "
            "as en,de (en is en-GB too); with the extra languages the text tells it where none is "
            "said",
        )
        parser.add_argument(
            "--min-words", metavar="N", help="only pages whose exported text has at least N words"
        )
        parser.add_argument(
            "--text",
            metavar="WHICH",
            default="own",
            help="own: texts of kept pages (default); all: of duplicates too, each row with "
            "text_of, the URL of the page whose stored text it shows: its own, or that of the page "
            "with an equal text; where neither is stored, the text is empty",
        )
        parser.add_argument(
            "--search",
            metavar="WORDS",
            help="print the kept pages that have these words, the best matches first (SQLite FTS5: "
            'all words, "a phrase", wor*, a OR b, title:word); builds search.db in DIR, which may '
            "be deleted",
        )
        parser.add_argument(
            "--limit", metavar="N", help="with --search: pages to print (default 20)"
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
            help="leave out of the texts what ten pages, and a tenth of all, of their host repeat; "
            "a text that is nothing else stays whole; words, digests and fingerprints are those of "
            "the whole text",
        )

        add_page_options(parser)

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Export a crawl directory."""
        folder = Path(one_directory(args))
        if opts.search is not None:
            self._search(folder, opts)
            return
        if opts.limit is not None:
            raise CommandError("--limit goes with --search")
        from crawler.console.page_export import (
            destination,
            export_to,
            page_filter,
            say_what_there_is,
        )
        from crawler.storage.database import open_for_reading

        chosen = page_filter(opts)
        to = destination(opts.output, opts.format)
        if not to.are_documents and (opts.links is not None or opts.images is not None):
            raise CommandError(f"--links and --images are for documents, got --format {to.kind}")
        count = 0
        try:
            with closing(open_for_reading(folder)) as connection:
                for count in export_to(connection, folder, chosen, to, opts):  # noqa: B007
                    pass
                say_what_there_is(connection, chosen, count)
        except KeyboardInterrupt:
            self.after_interrupt = _after_interrupt(to, count)
            raise
        if to.is_folder:
            say(f"{many(count, 'file')} in {to.name}", to_stderr=True)
        elif to.name != "-":
            written = many(count, "page" if to.are_documents else "row")
            say(f"{written} in {to.name}", to_stderr=True)

    def _search(self, folder: Path, opts: argparse.Namespace) -> None:
        """Print the pages that have words, with a piece of each."""
        from crawler.console.lab_options import whole
        from crawler.console.page_options import page_selection
        from crawler.pages.page_search import PageSearch, SearchError
        from crawler.storage.database import open_for_reading

        given = {"-o": opts.output != "-", "--format": opts.format, "--verdict": opts.verdict}
        if wrong := [option for option, value in given.items() if value]:
            raise CommandError(f"--search prints a list; leave {' and '.join(wrong)} out")
        limit = whole(opts.limit or "20", "--limit", 1)
        selection = page_selection(opts)
        open_for_reading(folder).close()  # is there a crawl?
        self.after_interrupt = "interrupted; what was indexed so far is kept"
        try:
            with closing(PageSearch(folder)) as search:
                search.update(self.progress)
                hits = search.find(opts.search, limit, selection)
        except SearchError as error:
            raise CommandError(str(error)) from None
        self.progress.end()
        for hit in hits:
            say(f"{hit.url}  {hit.title}{f'  ({hit.away} at the last visit)' if hit.away else ''}")
            say(f"    {hit.snippet}")
        if not hits:
            say(f"no kept page has {opts.search}", to_stderr=True)


def _after_interrupt(to: Destination, count: int) -> str:
    """Return what holds after Ctrl-C."""
    if to.is_folder:
        written = f"{many(count, 'file')} written to {to.name}, each of them whole"
        return f"interrupted: {written}; run the command again for the others"
    return "interrupted" if to.name == "-" else f"interrupted; nothing was written to {to.name}"
