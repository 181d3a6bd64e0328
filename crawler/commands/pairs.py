"""``crawl-once pairs DIR``: the pairs of pages at the border."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from crawler.console.command_line import PlainCommand
from crawler.console.escaping import say, say_coloured, say_json
from crawler.console.lab_options import (
    add_method_option,
    add_pair_options,
    add_parameter_options,
    shown_pairs,
)

if TYPE_CHECKING:
    import argparse

    from crawler.lab.pair_details import PairDetails

_LIMIT = 20
_CONTEXT = 10


class PairsCommand(PlainCommand):
    """Only reads, also beside the process that crawls."""

    usage = "[--distance BITS] [--limit N] [--diff] [--json] DIR|FILE [DIR...]"
    summary = "Show near pairs of pages, those first from which most can be learned"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        add_pair_options(parser, _LIMIT)
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
        with shown_pairs(args, opts, self.progress) as (found, choice, pairs):
            from crawler.lab.choice import SIMHASH
            from crawler.lab.pair_details import details_of

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
