"""Run a command from arguments to a status; errors of the user end in one line."""

import csv
import gzip
import os
import signal
import sys
import zlib
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from neardup.batch.input_files import (
    PACKINGS,
    Fields,
    InputOptions,
    find_files,
    parts_of,
    row_parts,
)
from neardup.batch.parsing import NO_TEXT, check_fields, read_part
from neardup.batch.rows import LeftOut
from neardup.command_line.arguments import (
    STANDARD_INPUT,
    compare_options,
    evaluate_options,
    find_options,
    named_input,
    parameters_of,
    print_text,
    read_bytes,
)
from neardup.command_line.find import find
from neardup.comparison.diff import EQUAL, diff, edit_ratio, render_diff
from neardup.deduplicator import Deduplicator
from neardup.document import analyse
from neardup.errors import BadInputError, DocumentError, FingerprintError, InputError, NearDupError
from neardup.evaluation.metrics import (
    Scores,
    Similar,
    SweepRow,
    count_errors,
    labelled_pairs,
    read_similar,
    sweep,
)
from neardup.fingerprints.simhash import hamming, simhash
from neardup.names import difference, name_of
from neardup.parameters import Parameters
from neardup.plurals import many
from neardup.verdict import SAME_TEMPLATE, Verdict
from neardup.verification import containment, jaccard


def compare(options: Namespace) -> None:
    """Print the measures of two texts, the verdict on the second, and how they differ."""
    parameters = parameters_of(options)
    if options.text:
        first, second = options.first, options.second
    else:
        if options.first == options.second == STANDARD_INPUT:
            raise InputError("standard input can be one of the two, not both")
        first, second = _read(options.first), _read(options.second)
    for name, value in _measures(first, second, parameters):
        print_text(f"{name:<12} {value}")
    runs = diff(first, second)
    if any(run.kind != EQUAL for run in runs):
        print_text("\n" + render_diff(runs, context=options.context))


def _read(path: str) -> str:
    content = read_bytes(path)
    try:
        if content.startswith(PACKINGS[".gz"]):
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, byte {error.start:,}: not UTF-8: {error.reason}") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}: damaged gzip: {error}") from error


def _measures(first: str, second: str, parameters: Parameters) -> Iterator[tuple[str, str]]:
    size = parameters.verify_shingle_size
    yield "distance", _distance(first, second, parameters)
    shared = jaccard(first, second, shingle_size=size)
    yield "similarity", f"{shared:.4f} (Jaccard of word {size}-shingles)"
    ours = containment(first, second, shingle_size=size)
    theirs = containment(second, first, shingle_size=size)
    yield "containment", f"{ours:.4f} of A in B, {theirs:.4f} of B in A"
    # Texts that are too long for it have the other measures.
    with suppress(DocumentError):
        yield "edit ratio", f"{edit_ratio(first, second):.4f} (characters)"
    with Deduplicator(parameters) as deduplicator:
        deduplicator.judge(0, first)
        verdict = deduplicator.judge(1, second).kind
    shown = difference(name_of(second), name_of(first)) if verdict == SAME_TEMPLATE else ""
    yield "verdict", f"{verdict} (another {shown})" if shown else verdict


def _distance(first: str, second: str, parameters: Parameters) -> str:
    try:
        features = parameters.fingerprint_features
        distance = hamming(simhash(first, features), simhash(second, features))
    except FingerprintError as error:
        return f"none: {error}"
    return f"{distance} of 64 bits ({features})"


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
        f"{row.outcome.dropped:,}",
        f"{row.outcome.wrong_drops:,}",
        f"{row.outcome.missed:,}",
        "",
        f"{row.scores.precision:.4f}",
        f"{row.scores.recall:.4f}",
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


_DONE = 0
_NOT_ALL_READ = 1
_BAD_INPUT = 2
# What a shell reports of a process that such a signal ended.
_INTERRUPTED = 128 + signal.SIGINT
_TERMINATED = 128 + signal.SIGTERM
_READER_LEFT = 141

_COMMANDS = {"compare": (compare_options, compare), "evaluate": (evaluate_options, evaluate)}


def main(arguments: Sequence[str]) -> int:
    """Run a command and return the status of ``status_of``."""
    return status_of("neardup", lambda: _run(arguments))


def status_of(program: str, run: Callable[[], None], *, interrupted: str = "interrupted") -> int:
    """Run a program to its status; errors of the user end in one line.

    Returns:
        0; 1 where some of the input could not be read; 2 for bad options and where nothing was
        done; 130 after Ctrl-C; 141 when the reader of standard output left, as ``head`` does, about
        which nothing is said.
    """
    # So that the temporary folder goes, as it does after Ctrl-C.
    signal.signal(signal.SIGTERM, _leave)
    if sys.stderr is None:
        # A shell closed it; print would take standard output in its place.
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  (until the end)
    try:
        run()
        if sys.stdout is not None:
            sys.stdout.flush()
    except BadInputError as error:
        message, status = str(error), _NOT_ALL_READ
    except NearDupError as error:
        message, status = str(error), _BAD_INPUT
    except BrokenPipeError:
        # Python flushes standard output once more at its end, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _READER_LEFT
    except KeyboardInterrupt:
        message, status = interrupted, _INTERRUPTED
    except OSError as error:
        about = f"{error.filename}: " if error.filename else ""
        message, status = about + (error.strerror or str(error)), _BAD_INPUT
    else:
        return _DONE
    print(f"{program}: {' '.join(message.split())}", file=sys.stderr)
    return status


def _run(arguments: Sequence[str]) -> None:
    if arguments and arguments[0] in _COMMANDS:
        read, run = _COMMANDS[arguments[0]]
        run(read(arguments[1:]))
    else:
        find(find_options(arguments))


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(_TERMINATED)
