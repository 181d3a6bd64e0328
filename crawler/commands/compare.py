"""``crawl-once compare A B``: measure two pages, and show where they differ."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.console.command_line import CommandError, PlainCommand
from crawler.console.escaping import say, say_coloured
from crawler.console.lab_options import (
    add_parameter_options,
    paths_of,
    tried_parameters,
    whole,
)
from crawler.suggestions import did_you_mean

if TYPE_CHECKING:
    import argparse

    from crawler.lab.sides import ComparedText, TextSide
    from neardup import Parameters

_CONTEXT = "10"
_SCHEMES = ("http://", "https://")


class CompareCommand(PlainCommand):
    """Fetches no more than the two pages and their robots.txt, and nothing with ``--crawl``."""

    uses_profile = True
    usage = "[options] URL|FILE URL|FILE"
    summary = "Say what two pages share, bit by bit, and where they differ"
    description = (
        "Measure two pages in every way and show where their texts differ. URLs are looked up "
        "in the crawl that --crawl names; without it they are fetched, as robots.txt allows. "
        "Files are HTML, plain text, feeds or documents: PDF, Word, slides, OpenDocument, EPUB."
    )

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--crawl",
            metavar="DIR",
            help="look URLs up in this crawl directory (or .jsonl or WARC file); fetch nothing",
        )
        add_parameter_options(
            parser,
            "max-distance",
            "min-similarity",
            "min-words",
            "features",
            "compare-names",
            "ignore-boilerplate",
        )
        parser.add_argument(
            "--context",
            metavar="N",
            default=_CONTEXT,
            help=f"equal words shown around changes (default {_CONTEXT})",
        )
        parser.add_argument(
            "--text",
            metavar="T",
            default="judged",
            help="texts whose differences are shown: judged, on which the verdict rests (default), "
            "or shown, the main content that is exported",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Find the texts, measure them, print."""
        if len(args) != 2:
            got = "none" if not args else " ".join(args)
            raise CommandError(f"two URLs or files are needed, got {got}")
        context = whole(opts.context, "--context", 0)
        compared = _compared(opts.text)
        from crawler.console.compare_text import (
            comparison_lines,
            diff_heading,
            diff_text,
            is_other,
        )
        from crawler.lab.comparison import compare
        from neardup import diff
        from neardup.parameters import DEFAULTS

        tried_parameters(opts, DEFAULTS)  # whatever is wrong is said before anything is fetched
        first, second, running = self._sides(args, opts.crawl)
        parameters = tried_parameters(opts, running)
        are_main = first.is_main and second.is_main
        names, blocks = (first.called, second.called), (first.blocks, second.blocks)
        found = compare(
            *(first.text, second.text, parameters), are_main=are_main, names=names, blocks=blocks
        )
        runs = diff(first.words_of(compared), second.words_of(compared))

        def to_dict() -> dict[str, Any]:
            measures = found.to_dict()
            for letter, side in (("first", first), ("second", second)):
                content = side.content
                measures[letter] |= {
                    "name": side.name,
                    "title": side.title,
                    "page_type": None if content is None else content.kind,
                    "content_source": None if content is None else content.source,
                }
            return {**measures, "compared_text": compared, "diff": diff_text(runs, context)}

        self.say_result(opts, to_dict, comparison_lines(found, (first, second), parameters))
        if not opts.json:
            say()
            say(diff_heading(compared, runs))
            if is_other(runs):
                say_coloured(diff_text(runs, context, coloured=sys.stdout.isatty()))

    def _sides(self, args: list[str], crawl: str | None) -> tuple[TextSide, TextSide, Parameters]:
        from crawler.lab.sides import read_files, read_pages
        from neardup.parameters import DEFAULTS

        urls = [word for word in args if _is_url(word)]
        files = [Path(word) for word in args if not _is_url(word)]
        sides = dict(zip(map(str, files), read_files(files), strict=True)) if files else {}
        running = DEFAULTS
        if crawl is not None:
            if not urls:
                raise CommandError("--crawl looks URLs up, and none is given")
            found, running = self._looked_up(urls, paths_of([crawl]))
            sides |= found
        elif urls:
            from crawler.console.fetch import fetch_pages

            pages = fetch_pages(urls, self.host.settings)
            sides |= zip(urls, read_pages(pages), strict=True)
        first, second = (sides[word if _is_url(word) else str(Path(word))] for word in args)
        return first, second, running

    def _looked_up(
        self, urls: list[str], crawls: list[Path]
    ) -> tuple[dict[str, TextSide], Parameters]:
        from crawler.console.temporary_crawl import crawls_of
        from crawler.lab.crawl_sources import loaded
        from crawler.lab.sides import stored_side

        with crawls_of(crawls) as made:
            found = loaded(crawls, self.progress, made=made)
            sides = {url: stored_side(found.session, found.sources, url) for url in urls}
            return sides, found.session.running


def _compared(wanted: str) -> ComparedText:
    from crawler.lab.sides import ComparedText

    if wanted not in list(ComparedText):
        hint = did_you_mean(wanted, list(ComparedText))
        raise CommandError(f"--text {wanted}: judged or shown expected{hint}")
    return ComparedText(wanted)


def _is_url(word: str) -> bool:
    if word.lower().startswith(_SCHEMES):
        return True
    scheme, found, _ = word.partition("://")
    if found and not Path(word).exists():
        hint = did_you_mean(f"{scheme}://", _SCHEMES)
        raise CommandError(f"{word}: neither http nor https{hint}")
    return False
