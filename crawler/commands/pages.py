"""``crawl-once pages DIR``: the pages of a crawl as rows of a table, or as documents."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import Command, one_directory
from crawler.console.escaping import say
from crawler.console.options import (
    CommandError,
    PageOptions,
    among,
    flag,
    number,
    option,
    page_selection,
)
from crawler.suggestions import did_you_mean
from neardup.plurals import many

if TYPE_CHECKING:
    from crawler.console.page_export import Destination
    from crawler.pages.export import PageFilter


TEXTS = ("own", "all")
"""Values of ``--text``."""


def _verdicts() -> tuple[str, ...]:
    """Return the values of ``--verdict``, that of all kept pages first."""
    from crawler.pages.export import KEPT_FILTER
    from crawler.pages.verdicts import VERDICTS

    return (KEPT_FILTER, *VERDICTS)


@dataclass(frozen=True)
class _PagesOptions(PageOptions):
    output: str = option(
        "FILE",
        "where to; the ending gives the format, FILE:FORMAT names it (default: jsonl to standard "
        "output); with DIR/ each page becomes a file that is named like its URL",
        "-",
        names=("-o", ""),
    )
    format: str | None = option(
        "F",
        "rows of a table: jsonl, json, csv, xml, parquet; documents of the main content: markdown "
        "(with metadata in front), text, and with -o DIR/ also xml and html",
    )
    verdict: str | None = option(
        "V",
        lambda: (
            "export only URLs of this verdict (default: all URLs, one row each): "
            f"{_verdicts()[0]} (every page whose text is stored, each once; its field away says "
            "what a later visit found where there was no page any more), "
            f"{', '.join(_verdicts()[1:])}"
        ),
    )
    language: str | None = option(
        "CODES",
        "only pages that declare one of these languages (html lang, meta, JSON-LD), such as en,de "
        "(en is en-GB too); with the extra languages the text tells it where none is said",
    )
    min_words: int = option(
        "N", "only pages whose exported text has at least N words", 0, read=number(0)
    )
    text: str = option(
        "WHICH",
        "own: texts of kept pages (default); all: of duplicates too, each row with text_of, the "
        "URL of the page whose stored text it shows: its own, or that of the page with an equal "
        "text; where neither is stored, the text is empty",
        "own",
        read=among(lambda: TEXTS, "choice"),
    )
    search: str | None = option(
        "WORDS",
        "print the kept pages that have these words, the best matches first (SQLite FTS5: all "
        'words, "a phrase", wor*, a OR b, title:word); builds search.db in DIR, which may be '
        "deleted",
    )
    limit: int | None = option("N", "with --search: pages to print (default 20)", read=number(1))
    links: bool | None = flag("whether documents hold links (default: yes)", is_switch=True)
    images: bool | None = flag("whether documents hold images (default: no)", is_switch=True)
    without_boilerplate: bool = flag(
        "leave out of the texts what ten pages, and a tenth of all, of their host repeat; a text "
        "that is nothing else stays whole; words, digests and fingerprints are those of the whole "
        "text"
    )


def page_filter(opts: _PagesOptions) -> PageFilter:
    """Return the pages that options choose.

    Raises:
        CommandError: There is no such verdict or type, or a number is none.
    """
    from crawler.pages.export import PageFilter
    from neardup.languages import language_codes

    choices = _verdicts()
    if opts.verdict is not None and opts.verdict not in choices:
        if "," in opts.verdict:
            raise CommandError(f"--verdict {opts.verdict}: name one verdict; export each")
        hint = did_you_mean(opts.verdict, choices) or f"; there are {', '.join(choices)}"
        raise CommandError(f"--verdict {opts.verdict}: no such verdict{hint}")
    return PageFilter(
        opts.verdict,
        language_codes(opts.language),
        opts.min_words,
        page_selection(opts),
        opts.text == "all",
    )


class PagesCommand(Command):
    """Exports the newest capture of each URL: rows of a table, or documents of their content."""

    options = _PagesOptions
    usage = "[-o FILE|DIR/] [--format F] [--verdict V] [--without-boilerplate] DIR"
    summary = "Export the pages of a crawl as a table, or as Markdown, text, XML or HTML"

    def act(self, args: list[str], opts: _PagesOptions) -> None:
        folder = Path(one_directory(args))
        if opts.search is not None:
            self._search(folder, opts.search, opts)
            return
        if opts.limit is not None:
            raise CommandError("--limit goes with --search")
        from crawler.console.page_export import (
            destination,
            export_to,
            say_what_there_is,
        )
        from crawler.reading.content.content_text import Shown
        from crawler.storage.database import open_for_reading

        chosen = page_filter(opts)
        to = destination(opts.output, opts.format)
        if not to.are_documents and (opts.links is not None or opts.images is not None):
            raise CommandError(f"--links and --images are for documents, got --format {to.kind}")
        count = 0
        shown = Shown(links=opts.links is not False, images=bool(opts.images))
        is_bare = opts.without_boilerplate
        try:
            with closing(open_for_reading(folder)) as connection:
                done = export_to(connection, folder, chosen, to, shown, without_boilerplate=is_bare)
                for count in done:  # noqa: B007
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

    def _search(self, folder: Path, words: str, opts: _PagesOptions) -> None:
        """Print the pages that have words, with a piece of each."""
        from crawler.pages.page_search import PageSearch
        from crawler.storage.database import open_for_reading

        given = {"-o": opts.output != "-", "--format": opts.format, "--verdict": opts.verdict}
        if wrong := [option for option, value in given.items() if value]:
            raise CommandError(f"--search prints a list; leave {' and '.join(wrong)} out")
        limit = opts.limit or 20
        selection = page_selection(opts)
        open_for_reading(folder).close()  # is there a crawl?
        self.after_interrupt = "interrupted; what was indexed so far is kept"
        with closing(PageSearch(folder)) as search:
            search.update(self.progress)
            hits = search.find(words, limit, selection)
        self.progress.end()
        for hit in hits:
            say(f"{hit.url}  {hit.title}{f'  ({hit.away} at the last visit)' if hit.away else ''}")
            say(f"    {hit.snippet}")
        if not hits:
            say(f"no kept page has {words}", to_stderr=True)


def _after_interrupt(to: Destination, count: int) -> str:
    """Return what holds after Ctrl-C."""
    if to.is_folder:
        written = f"{many(count, 'file')} written to {to.name}, each of them whole"
        return f"interrupted: {written}; run the command again for the others"
    return "interrupted" if to.name == "-" else f"interrupted; nothing was written to {to.name}"
