"""Compute words, digest and fingerprint of a text, in the parent process.

The compiled code takes half a second and 130 MB to load, and 30 us for a page: one process of a
crawl loads it, and the workers start without it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import zstandard

from crawler.reading.reading import Extract
from neardup import analyse
from neardup.features.occurrences import count_words
from neardup.features.texts import folded_bytes, word_bytes
from neardup.fingerprints.digest import text_digest

if TYPE_CHECKING:
    from crawler.reading.steps import Extracted
    from neardup import Parameters


def to_extract(
    extracted: Extracted, visible_digest: bytes | None, parameters: Parameters
) -> Extract:
    """Return the text of a page with the facts for its verdict.

    Args:
        extracted: The text.
        visible_digest: Digest of all visible text.
        parameters: Parameters, whose features count here.
    """
    if extracted.words is not None and visible_digest is not None:
        packed, words = extracted.text_zstd, extracted.words
        return Extract(packed, words, visible_digest, None, False, visible_digest)
    return extract_of(extracted.text_zstd, extracted.is_main, visible_digest, parameters)


def extract_of(
    packed: bytes, is_main: bool, visible_digest: bytes | None, parameters: Parameters
) -> Extract:
    """Return the text with the facts for its verdict, from a text packed by zstd.

    Args:
        packed: The text.
        is_main: Whether a fingerprint may stand for the text.
        visible_digest: Digest of all visible text.
        parameters: Parameters, whose features count here.
    """
    text = zstandard.decompress(packed).decode()
    if not is_main:  # only pages with the same visible text are its duplicates
        words = count_words(word_bytes(folded_bytes(text)))
        digest = visible_digest or text_digest(text)
        return Extract(packed, words, digest, None, is_main, visible_digest)
    document = analyse(text, replace(parameters, min_words=1))
    digest, fingerprint = document.digest, document.fingerprint
    return Extract(packed, document.words, digest, fingerprint, is_main, visible_digest)
