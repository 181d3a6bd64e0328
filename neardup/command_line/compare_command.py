"""``python -m neardup compare A B``: what do two texts share?"""

import gzip
import zlib
from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress

from neardup.batch.input_files import PACKINGS
from neardup.command_line.arguments import parameters_of
from neardup.command_line.streams import STANDARD_INPUT, print_text, read_bytes
from neardup.comparison.diff import EQUAL, diff, edit_ratio, render_diff
from neardup.deduplicator import Deduplicator
from neardup.errors import DocumentError, FingerprintError, InputError
from neardup.fingerprints.simhash import hamming, simhash
from neardup.names import difference, name_of
from neardup.parameters import Parameters
from neardup.verdict import SAME_TEMPLATE
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
