"""Load what is compiled for a ``Deduplicator`` before the first text comes."""

import threading
from collections.abc import Callable

from neardup.document import analyse
from neardup.features.bitmaps import bitmap_of, max_similarity
from neardup.indexes.hamming import HammingIndex
from neardup.verification import JaccardVerifier

_NOTICE_SECS = 2.0


def prepare(notice: Callable[[], object] | None = None) -> None:
    """Load the compiled loops that a ``Deduplicator`` uses by itself.

    These are the loops of SimHash, ``HammingIndex`` and ``JaccardVerifier``. Those of MinHash and
    ``LshIndex`` are loaded at their first use.

    It takes about a second, and some ten where they were never compiled on this machine. A call is
    never needed, since all loops are loaded at their first use. It serves callers that give a text
    a time limit or tell a user about the wait.

    Args:
        notice: Called once, from another thread, when it takes longer than 2 seconds because
            there is something to compile.
    """
    from neardup import compiled  # noqa: PLC0415  (numba takes a third of a second to import)

    if compiled.is_complete():
        _load()
        return
    timer = threading.Timer(_NOTICE_SECS, notice or (lambda: None))
    timer.daemon = True
    timer.start()
    try:
        _load()
    finally:
        timer.cancel()
    compiled.note_complete()


def _load() -> None:
    analyse("a")
    similarity = JaccardVerifier().compared_with("a")
    similarity.by_words("a")
    bitmap = bitmap_of(similarity.shingles)
    max_similarity(bitmap, bitmap)
    HammingIndex().close()
