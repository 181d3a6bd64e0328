"""``python -m neardup evaluate TEXTS PAIRS``: how good are which parameters on these texts?"""

import csv
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from neardup.command_line.arguments import parameters_of
from neardup.command_line.row import Row
from neardup.command_line.row_formats import open_rows
from neardup.command_line.streams import print_text
from neardup.document import analyse
from neardup.errors import InputError
from neardup.evaluation.metrics import Similar, labelled_pairs, read_similar
from neardup.evaluation.parameter_sweep import SweepRow, sweep
from neardup.features.tokens import packed_words
from neardup.parameters import Parameters
from neardup.verification import similarity

_HEADINGS = ("distance", "confirmed", "dropped", "wrong drops", "missed", "precision", "recall")


def evaluate(options: Namespace) -> None:
    """Print what each distance does to labelled texts, alone and confirmed by similarity.

    The words of all texts with a fingerprint are held in memory.
    """
    parameters = parameters_of(options)
    alone = replace(parameters, verify=False)
    labelled = _labelled(options, parameters)
    texts = _analysed(options, alone, parameters)
    words = texts.words
    about = sum(words.keys() >= set(pair) for pair in labelled_pairs(labelled))
    if not about:
        least = f"{parameters.min_words} words"
        raise InputError(f"{options.pairs}: no pair names two texts of at least {least}")
    min_similarity = parameters.min_similarity
    rows = sweep(texts.alone, labelled)
    confirmed = sweep(
        texts.confirmed,
        labelled,
        similarity=lambda earlier, later: similarity(
            words[earlier], words[later], parameters.verify_shingle_size
        ),
        min_similarities=[min_similarity],
    )
    rows += [row for row in confirmed if row.min_similarity is not None]
    print_text(
        f"{len(words):,} texts of at least {parameters.min_words} words, "
        f"{about:,} pairs with {options.measure} >= {min_similarity:g}"
    )
    print_text(
        f"features: {alone.fingerprint_features} alone, {parameters.fingerprint_features} confirmed"
    )
    _print_table(rows)


class _Analysed(NamedTuple):
    """The texts with fingerprints, by id, in the order of the file."""

    alone: dict[int, int]
    confirmed: dict[int, int]
    words: dict[int, bytes]


def _labelled(options: Namespace, parameters: Parameters) -> Similar:
    try:
        similar = read_similar(
            options.pairs, measure=options.measure, min_similarity=parameters.min_similarity
        )
    except UnicodeDecodeError as error:
        raise InputError(f"{options.pairs}: not UTF-8: {error.reason}") from error
    except csv.Error as error:
        raise InputError(f"{options.pairs}: no CSV: {error}") from error
    if not similar:
        raise InputError(f"{options.pairs}: no pair of the least similarity in it")
    return similar


def _analysed(options: Namespace, alone: Parameters, confirmed: Parameters) -> _Analysed:
    found = _Analysed({}, {}, {})
    for number, text in _texts(options):
        one, other = analyse(text, alone), analyse(text, confirmed)
        if one.fingerprint is None or other.fingerprint is None or number in found.words:
            continue
        found.alone[number], found.confirmed[number] = one.fingerprint, other.fingerprint
        found.words[number] = packed_words(text)
    return found


def _texts(options: Namespace) -> Iterator[tuple[int, str]]:
    """Yield ids with texts; a row without a text says again what an earlier one said."""
    fields = ((options.id_field,), (options.text_field,))
    empty = True
    with open_rows(options.texts, options.format, fields) as source:
        for row in source.shown():
            if empty:
                row.require([options.text_field], "--text-field")
            empty = False
            text = row.text(options.text_field)
            if text is not None:
                yield _number(row, options.id_field), text
        if empty:
            raise InputError(f"{source.name}: empty, no text in it")


def _number(row: Row, field: str) -> int:
    value = row.id(field)
    try:
        return int(value)
    except ValueError:
        raise row.complaint(
            f'field "{field}" must be a whole number, as in the pairs, got "{value}"'
        ) from None


def _print_table(rows: Sequence[SweepRow]) -> None:
    print_text("  ".join(_HEADINGS))
    for row in rows:
        cells = (
            f"{row.max_distance}",
            "no" if row.min_similarity is None else "yes",
            f"{row.dropped:,}",
            f"{row.wrong_drops:,}",
            f"{row.missed:,}",
            f"{row.precision:.4f}",
            f"{row.recall:.4f}",
        )
        columns = zip(cells, _HEADINGS, strict=True)
        print_text("  ".join(cell.rjust(len(heading)) for cell, heading in columns))
