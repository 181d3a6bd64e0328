"""``python -m neardup FILE``: which texts of a file repeat which?"""

import sys
from argparse import Namespace
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from neardup.command_line.errors import InputError
from neardup.command_line.ledger import Ledger
from neardup.command_line.options import parameters_of
from neardup.command_line.output import json_line, open_output
from neardup.command_line.progress import shown
from neardup.command_line.rows.opening import open_rows
from neardup.command_line.rows.row import Source
from neardup.deduplicator import Deduplicator
from neardup.verdict import NEAR_DUPLICATE, TEXT_DUPLICATE, TOO_SHORT

_EMPTY = "empty"


def find(options: Namespace) -> None:
    """Judge the texts of a file in its order, and write a line for each cluster.

    Texts and verdicts lie in a temporary folder while it works, so memory stays small: about 40
    bytes a text for the index.

    Raises:
        InputError: The input is bad, or there is none.
        NearDupError: A parameter is out of range.
        OSError: A file cannot be read or written.
    """
    parameters = parameters_of(options)
    fields = (options.id_field, options.text_field)
    with (
        open_output(options.out, options.file) as output,
        open_rows(options.file, options.format, fields) as source,
        TemporaryDirectory(prefix="neardup-", ignore_cleanup_errors=True) as folder,
        Ledger(Path(folder) / "verdicts.sqlite") as ledger,
    ):
        with Deduplicator(parameters, Path(folder) / "texts") as deduplicator:
            counts = _judge(source, options, deduplicator, ledger)
        if not counts:
            raise InputError(f"{source.name}: empty, no text in it")
        clusters = 0
        for cluster in ledger.clusters(singles=options.all):
            output.write(json_line(cluster))
            clusters += bool(cluster["duplicates"])
        output.flush()
    print(_summary(counts, clusters), file=sys.stderr)


def _judge(
    source: Source, options: Namespace, deduplicator: Deduplicator, ledger: Ledger
) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number, row in enumerate(shown(source)):
        if number == 0:
            row.require(options.text_field, "--text-field")
        # A page without a text is a page: it is kept, as too short.
        text = row.text(options.text_field) or ""
        verdict = deduplicator.judge(number, text)
        ledger.add(number, row.id(options.id_field), verdict)
        counts[verdict.kind if text else _EMPTY] += 1
    return counts


def _summary(counts: Counter[str], clusters: int) -> str:
    duplicates = counts[TEXT_DUPLICATE] + counts[NEAR_DUPLICATE]
    return (
        f"{counts.total():,} texts: {counts.total() - duplicates:,} kept "
        f"({counts[TOO_SHORT]:,} of them too short to compare, {counts[_EMPTY]:,} empty), "
        f"{duplicates:,} duplicates "
        f"({counts[TEXT_DUPLICATE]:,} equal, {counts[NEAR_DUPLICATE]:,} near) "
        f"in {clusters:,} clusters"
    )
