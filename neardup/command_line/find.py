"""``python -m neardup FILE``: which texts of a file repeat which?"""

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from neardup.command_line.arguments import parameters_of
from neardup.command_line.errors import BadInputError, InputError
from neardup.command_line.ledger import Ledger
from neardup.command_line.output import json_line, open_output, open_partial
from neardup.command_line.progress_bar import shown
from neardup.command_line.rows.row import Source
from neardup.command_line.rows.row_formats import open_rows
from neardup.deduplicator import Deduplicator
from neardup.verdict import NEAR_DUPLICATE, TEXT_DUPLICATE, TOO_SHORT

_EMPTY = "empty"

_ID_NAMES = ("url", "id")
"""Fields that are the id where none is named; the first that the first row has."""

_MAX_NAMED = 10
"""Ids of more than one text are named up to so many."""


def find(options: Namespace) -> None:
    """Judge the texts of a file in its order, and write a line for each cluster.

    Texts and verdicts lie in a temporary folder while it works, so memory stays small: about 40
    bytes a text for the index. Where the input cannot be read on, the clusters of what came before
    are written all the same: to standard output, or to ``OUT.partial``.

    Raises:
        InputError: The input is bad, or there is none.
        NearDupError: A parameter is out of range.
        OSError: A file cannot be read or written.
    """
    parameters = parameters_of(options)
    skipping = _Skipping(options.skip_bad)
    fields = (_id_names(options), (options.text_field,))
    with (
        open_output(options.out, options.file) as output,
        open_rows(options.file, options.format, fields, skipping) as source,
        TemporaryDirectory(prefix="neardup-", ignore_cleanup_errors=True) as folder,
        Ledger(Path(folder) / "verdicts.sqlite") as ledger,
    ):
        counts: Counter[str] = Counter()
        stopped = None
        with Deduplicator(parameters, Path(folder) / "texts") as deduplicator:
            try:
                for verdict in _judged(source, options, skipping, deduplicator, ledger):
                    counts[verdict] += 1
            except BadInputError as error:
                stopped = error
        if not counts:
            raise stopped or InputError(f"{source.name}: empty, no text in it")
        if stopped is None:
            _write(ledger, options, output, counts)
        else:
            with open_partial(options.out, output) as (partial, name):
                _write(ledger, options, partial, counts)
            raise InputError(f"{stopped}; what came before it is in {name}")


class _Skipping:
    """Names rows that cannot be read, and raises when there are more than may be."""

    def __init__(self, limit: int) -> None:
        self._limit = self._left = limit

    def __call__(self, error: InputError) -> None:
        if not self._left:
            hint = (
                "N passes over so many rows" if not self._limit else f"{self._limit} allows no more"
            )
            raise BadInputError(f"{error}; --skip-bad {hint}")
        self._left -= 1
        print(f"neardup: passed over: {error}", file=sys.stderr)


def _id_names(options: Namespace) -> tuple[str, ...]:
    return _ID_NAMES if options.id_field is None else (options.id_field,)


def _judged(
    source: Source,
    options: Namespace,
    skipping: _Skipping,
    deduplicator: Deduplicator,
    ledger: Ledger,
) -> Iterator[str]:
    """Yield the verdict on each text, or that it is empty."""
    id_field = None
    for number, row in enumerate(shown(source)):
        if id_field is None:
            row.require([options.text_field], "--text-field")
            id_field = row.require(_id_names(options), "--id-field")
        try:
            # A page without a text is a page: it is kept, as too short.
            name, text = row.id(id_field), row.text(options.text_field) or ""
        except InputError as error:
            skipping(error)
            continue
        verdict = deduplicator.judge(number, text)
        ledger.add(number, name, verdict)
        yield verdict.kind if text else _EMPTY


def _write(ledger: Ledger, options: Namespace, output: IO[bytes], counts: Counter[str]) -> None:
    clusters = 0
    for cluster in ledger.clusters(singles=options.all):
        output.write(json_line(cluster))
        clusters += bool(cluster["duplicates"])
    output.flush()
    print(_summary(counts, clusters), file=sys.stderr)
    names, total = ledger.repeated_ids(_MAX_NAMED)
    if total:
        named = ", ".join(names) + (", ..." if total > len(names) else "")
        print(f"neardup: ids of more than one text: {total:,}: {named}", file=sys.stderr)


def _summary(counts: Counter[str], clusters: int) -> str:
    duplicates = counts[TEXT_DUPLICATE] + counts[NEAR_DUPLICATE]
    return (
        f"{counts.total():,} texts: {counts.total() - duplicates:,} kept "
        f"({counts[TOO_SHORT]:,} of them too short to compare, {counts[_EMPTY]:,} empty), "
        f"{duplicates:,} duplicates "
        f"({counts[TEXT_DUPLICATE]:,} equal, {counts[NEAR_DUPLICATE]:,} near) "
        f"in {clusters:,} clusters"
    )
