"""``python -m neardup evaluate TEXTS PAIRS``: how good are which parameters on these texts?"""

import csv
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from neardup.batch.input_files import Fields, InputOptions, find_files, parts_of, row_parts
from neardup.batch.parsing import NO_TEXT, check_fields, read_part
from neardup.batch.rows import LeftOut
from neardup.command_line.arguments import parameters_of
from neardup.command_line.streams import named_input, print_text
from neardup.deduplicator import Deduplicator
from neardup.document import analyse
from neardup.errors import InputError
from neardup.evaluation.metrics import (
    Scores,
    Similar,
    count_errors,
    labelled_pairs,
    read_similar,
)
from neardup.evaluation.parameter_sweep import SweepRow, sweep
from neardup.parameters import Parameters
from neardup.plurals import many
from neardup.verdict import SAME_TEMPLATE, Verdict

_HEADINGS = ("found by", "dropped", "wrong drops", "missed", "names", "precision", "recall")


def evaluate(options: Namespace) -> None:
    """Print what each distance alone does to labelled texts, and what a deduplicator does.

    All texts with a fingerprint are held in memory.
    """
    parameters = parameters_of(options)
    alone = replace(parameters, verify=False)
    labelled = _labelled(options, parameters)
    judged = _judged(options, alone, parameters)
    compared = judged.verdicts
    about = sum(compared.keys() >= set(pair) for pair in labelled_pairs(labelled))
    if not about:
        least = many(parameters.min_words, "word")
        raise InputError(f"{options.pairs}: no pair names two texts of at least {least}")
    print_text(
        f"{many(len(compared), 'text')} of at least {many(parameters.min_words, 'word')}, "
        f"{many(about, 'pair')} with {options.measure} >= {parameters.min_similarity:g}"
    )
    print_text(
        f"features: {alone.fingerprint_features} alone, {parameters.fingerprint_features} confirmed"
    )
    rows = [_distance_cells(row) for row in sweep(judged.fingerprints, labelled)]
    _print_table([*rows, _verdict_cells(judged.verdicts, labelled)])


class _Judged(NamedTuple):
    """The texts with fingerprints, by id, in the order of the file.

    Attributes:
        fingerprints: The fingerprints by which distance alone decides.
        verdicts: The verdicts of a deduplicator that confirms.
    """

    fingerprints: dict[int, int]
    verdicts: dict[int, Verdict]


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


def _judged(options: Namespace, alone: Parameters, confirmed: Parameters) -> _Judged:
    found = _Judged({}, {})
    with Deduplicator(confirmed) as deduplicator:
        for number, text, title in _texts(options):
            fingerprint = analyse(text, alone).fingerprint
            if fingerprint is None or number in found.verdicts:
                continue
            found.fingerprints[number] = fingerprint
            found.verdicts[number] = deduplicator.judge(number, text, title=title)
    return found


def _texts(options: Namespace) -> Iterator[tuple[int, str, str | None]]:
    """Yield ids with texts and titles; a row without a text says again what an earlier one said."""
    fields = Fields(options.text_field, options.id_field, options.title_field)
    empty = True
    with named_input(options.texts, options.format) as path:
        files = find_files(path, options.format)
        check_fields(files, fields)
        for part in chain.from_iterable(map(row_parts, parts_of(files, 0))):
            for page in read_part(part, InputOptions(fields)):
                if isinstance(page, LeftOut):
                    if not page.reason.startswith(NO_TEXT):
                        raise InputError(f"{options.texts}: {page.reason}")
                    continue
                empty = False
                title = None if options.title_field is None else page.title
                yield _number(page.name, options), page.text, title
    if empty:
        raise InputError(f"{options.texts}: no text in it")


def _number(name: str, options: Namespace) -> int:
    try:
        return int(name)
    except ValueError:
        raise InputError(
            f'{options.texts}: field "{options.id_field}" must be a whole number, as in the '
            f'pairs, got "{name}"'
        ) from None


def _distance_cells(row: SweepRow) -> tuple[str, ...]:
    return (
        many(row.max_distance, "bit"),
        f"{row.dropped:,}",
        f"{row.wrong_drops:,}",
        f"{row.missed:,}",
        "",
        f"{row.precision:.4f}",
        f"{row.recall:.4f}",
    )


def _verdict_cells(verdicts: dict[int, Verdict], labelled: Similar) -> tuple[str, ...]:
    """Return the cells of a deduplicator, which asks no more pairs than its verdicts need."""
    outcome = count_errors(verdicts.items(), labelled)
    named = {text: found for text, found in verdicts.items() if found.kind == SAME_TEMPLATE}
    told_apart = sum(found.resembles in labelled.get(text, ()) for text, found in named.items())
    right, missed = outcome.dropped - outcome.wrong_drops, outcome.missed - told_apart
    scores = Scores(right, outcome.dropped, right + missed)
    return (
        "bands",
        f"{outcome.dropped:,}",
        f"{outcome.wrong_drops:,}",
        f"{missed:,}",
        f"{len(named):,}",
        f"{scores.precision:.4f}",
        f"{scores.recall:.4f}",
    )


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    print_text("  ".join(_HEADINGS))
    for row in rows:
        columns = zip(row, _HEADINGS, strict=True)
        print_text("  ".join(cell.rjust(len(heading)) for cell, heading in columns))
