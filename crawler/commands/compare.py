"""``crawl-once compare A B``: measure two pages, and show where they differ."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.console.command_line import Command
from crawler.console.escaping import say, say_coloured
from crawler.console.lab_options import (
    crawls_of,
    parameter,
    paths_of,
    switched_off,
    tried_parameters,
)
from crawler.console.options import JSON, CommandError, among, flag, number, option
from crawler.suggestions import did_you_mean

if TYPE_CHECKING:
    from crawler.lab.sides import TextSide
    from neardup import Parameters

_SCHEMES = ("http://", "https://")


@dataclass(frozen=True)
class _CompareOptions:
    crawl: str | None = option(
        "DIR", "look URLs up in this crawl directory (or .jsonl or WARC file); fetch nothing"
    )
    max_distance: str | None = parameter("max_distance")
    min_similarity: str | None = parameter("min_similarity")
    min_words: str | None = parameter("min_words")
    features: str | None = parameter("features")
    no_compare_names: bool = switched_off("compare_names")
    no_ignore_boilerplate: bool = switched_off("ignore_boilerplate")
    context: int = option("N", "equal words shown around changes (default 10)", 10, read=number(0))
    text: str = option(
        "T",
        "texts whose differences are shown: judged, on which the verdict rests (default), or "
        "shown, the main content that is exported",
        "judged",
        read=among(lambda: ("judged", "shown"), "text"),
    )
    json: bool = flag(JSON)


class CompareCommand(Command):
    """Fetches no more than the two pages and their robots.txt, and nothing with ``--crawl``."""

    options = _CompareOptions
    uses_profile = True
    usage = "[options] URL|FILE URL|FILE"
    summary = "Say what two pages share, bit by bit, and where they differ"
    description = (
        "Measure two pages in every way and show where their texts differ. URLs are looked up "
        "in the crawl that --crawl names; without it they are fetched, as robots.txt allows. "
        "Files are HTML, plain text, feeds or documents: PDF, Word, slides, OpenDocument, EPUB."
    )

    def act(self, args: list[str], opts: _CompareOptions) -> None:
        if len(args) != 2:
            got = "none" if not args else " ".join(args)
            raise CommandError(f"two URLs or files are needed, got {got}")
        from crawler.console.lab_text import (
            comparison_lines,
            diff_heading,
            diff_text,
            is_other,
        )
        from crawler.lab.comparison import compare
        from crawler.lab.sides import ComparedText
        from neardup import diff
        from neardup.parameters import DEFAULTS

        compared = ComparedText(opts.text)
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
            return {**measures, "compared_text": compared, "diff": diff_text(runs, opts.context)}

        self.say_result(opts, to_dict, comparison_lines(found, (first, second), parameters))
        if not opts.json:
            say()
            say(diff_heading(compared, runs))
            if is_other(runs):
                say_coloured(diff_text(runs, opts.context, coloured=sys.stdout.isatty()))

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
        from crawler.lab.session import loaded
        from crawler.lab.sides import stored_side

        with crawls_of(crawls) as made:
            found = loaded(crawls, self.progress, made=made)
            sides = {url: stored_side(found.session, found.sources, url) for url in urls}
            return sides, found.session.running


def _is_url(word: str) -> bool:
    if word.lower().startswith(_SCHEMES):
        return True
    scheme, found, _ = word.partition("://")
    if found and not Path(word).exists():
        hint = did_you_mean(f"{scheme}://", _SCHEMES)
        raise CommandError(f"{word}: neither http nor https{hint}")
    return False
