"""The last step of a reading, taken by the parent: words, digest and fingerprint of its text.

They are compiled code, which takes half a second and 130 MB to load, and 30 us for a page: one
process of a crawl has it, and the workers start without.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import zstandard

from crawler.reading.reading import Extract
from neardup import analyse

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
    return extract_of(extracted.text_zstd, extracted.is_main, visible_digest, parameters)


def extract_of(
    packed: bytes, is_main: bool, visible_digest: bytes | None, parameters: Parameters
) -> Extract:
    """As ``to_extract``, of a text packed by zstd."""
    text = zstandard.decompress(packed).decode()
    document = analyse(text, replace(parameters, min_words=1))
    digest, fingerprint = document.digest, document.fingerprint
    if not is_main:  # only pages that show the same are its duplicates
        digest, fingerprint = visible_digest or digest, None
    return Extract(packed, document.words, digest, fingerprint, is_main, visible_digest)
