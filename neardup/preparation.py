"""Load what is compiled for a ``Deduplicator`` before the first text comes."""

from collections.abc import Callable

from neardup.compiled_files import is_complete, note_complete
from neardup.document import analyse
from neardup.features.bitmaps import bitmap_of, max_similarity
from neardup.features.tokens import folded_bytes, word_bytes
from neardup.indexes.hamming import HammingIndex
from neardup.parameters import Parameters
from neardup.verification import JaccardVerifier


def prepare(notice: Callable[[int, int], object] | None = None) -> None:
    """Load the compiled loops that a ``Deduplicator`` uses by itself.

    These are the loops of SimHash, MinHash, ``HammingIndex`` and ``JaccardVerifier``. Those that
    search the segments of an index are loaded when the first segment exists, and those of the
    tables of ``LshIndex`` when it holds more than 1,024 documents.

    It takes about a second, and some three where they were never compiled on this machine. A call
    is never needed, since all loops are loaded at their first use. It serves callers that give a
    text a time limit or tell a user about the wait.

    Args:
        notice: Called before each step where there is something to compile, with the number of
            steps that are done and the number of all.
    """
    is_done = is_complete()
    for done, load in enumerate(_STEPS):
        if notice is not None and not is_done:
            notice(done, len(_STEPS))
        load()
    if not is_done:
        note_complete()


def _load_folding() -> None:
    # Beyond ASCII, so that the loops for other scripts are loaded too.
    word_bytes(folded_bytes("\u00e9"))


def _load_fingerprints() -> None:
    analyse("a", Parameters(min_words=1))


def _load_verifier() -> None:
    similarity = JaccardVerifier().compared_with("a")
    similarity("a")
    bitmap = bitmap_of(similarity.shingles)
    max_similarity(bitmap, bitmap)


def _load_index() -> None:
    with HammingIndex() as index:
        index.query(0)


_STEPS = (_load_folding, _load_fingerprints, _load_index, _load_verifier)
