"""The last step of a reading, taken by the parent: words, digest and fingerprint of its text.

They are compiled code, which takes half a second and 130 MB to load, and 30 us for a page: one
process of a crawl has it, and the workers start without.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import zstandard

from crawler.reading.reading import Extract
from neardup import analyse, text_digest
from neardup.features.occurrences import count_words
from neardup.features.texts import folded_bytes, word_bytes

if TYPE_CHECKING:
    from crawler.reading.steps import Extracted
    from neardup import Parameters


def to_extract(
    extracted: Extracted, visible_digest: bytes | None, parameters: Parameters
) -> Extract:
    """Return what the verdict on a page can rest on.

    Args:
        extracted: The text.
        visible_digest: Of all that the page shows.
        parameters: Of these, the features count.
    """
    if extracted.words is not None and visible_digest is not None:
        packed, words = extracted.text_zstd, extracted.words
        return Extract(packed, words, visible_digest, None, False, visible_digest)
    return extract_of(extracted.text_zstd, extracted.is_main, visible_digest, parameters)


def extract_of(
    packed: bytes, is_main: bool, visible_digest: bytes | None, parameters: Parameters
) -> Extract:
    """As ``to_extract``, of a text packed by zstd."""
    text = zstandard.decompress(packed).decode()
    if not is_main:  # only pages that show the same are its duplicates
        words = count_words(word_bytes(folded_bytes(text)))
        digest = visible_digest or text_digest(text)
        return Extract(packed, words, digest, None, is_main, visible_digest)
    document = analyse(text, replace(parameters, min_words=1))
    digest, fingerprint = document.digest, document.fingerprint
    return Extract(packed, document.words, digest, fingerprint, is_main, visible_digest)
