"""``crawl-once pairs DIR``: the pairs of pages at the border."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from crawler.console.command_line import PlainCommand
from crawler.console.escaping import say, say_coloured, say_json
from crawler.console.lab_options import (
    add_method_option,
    add_parameter_options,
    distances_of,
    paths_of,
    tried_choice,
    whole,
)

if TYPE_CHECKING:
    import argparse

    from crawler.lab.comparison import PairDetails

_ALL = "0..8"
_LIMIT = 20
_CONTEXT = 10


class PairsCommand(PlainCommand):
    """Only reads, also beside the process that crawls."""

    usage = "[--distance BITS] [--limit N] [--diff] [--json] DIR|FILE [DIR...]"
    summary = "Show near pairs of pages, those first from which most can be learned"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--distance",
            metavar="BITS",
            default=_ALL,
            help=f"bits between the two, such as 3..5 or 4 (default {_ALL})",
        )
        parser.add_argument(
            "--limit", metavar="N", default=str(_LIMIT), help=f"pairs to show (default {_LIMIT})"
        )
        parser.add_argument("--diff", action="store_true", help="show where their texts differ")
        add_method_option(parser)
        add_parameter_options(
            parser,
            "features",
            "max-distance",
            "min-similarity",
            "min-words",
            "compare-names",
        )
        from crawler.console.page_options import add_page_options

        add_page_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object a line")

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Find pairs and print them."""
        from crawler.console.page_options import page_selection

        paths, selection = paths_of(args), page_selection(opts)
        distances = distances_of(opts.distance, "--distance")
        limit = whole(opts.limit, "--limit", 1)
        from crawler.console.temporary_crawl import crawls_of
        from crawler.lab.comparison import details_of
        from crawler.lab.crawl_sources import loaded
        from crawler.lab.judgement import SIMHASH
        from crawler.lab.labels import read_labels

        with crawls_of(paths) as made:
            found = loaded(paths, self.progress, selection, made)
            choice = tried_choice(opts, found.session.running)
            found.session.prepare(choice, self.progress)
            labels = read_labels(found.sources.paths)
            pairs = found.session.pairs(choice, distances, limit, labels=labels)
            self.progress.end()
            least = choice.parameters.min_similarity
            for number, pair in enumerate(pairs, start=1):
                _show(details_of(found, pair), number, least, opts)
            if not pairs and not opts.json:
                bits = "" if choice.method != SIMHASH else f" at {opts.distance} bits"
                say(f"no two distinct texts{bits}")


def _show(found: PairDetails, number: int, min_similarity: float, opts: argparse.Namespace) -> None:
    from crawler.console.compare_text import pair_dict, pair_diff, pair_lines

    if opts.json:
        fields = pair_dict(found, _CONTEXT if opts.diff else None)
        say_json(json.dumps(fields))
        return
    if number > 1:
        say()
    for line in pair_lines(found, number, min_similarity):
        say(line)
    if opts.diff:
        say()
        say_coloured(pair_diff(found, _CONTEXT, coloured=sys.stdout.isatty()))
