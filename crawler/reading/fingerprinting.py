"""The last step of a reading, taken by the parent: words, digest and fingerprint of its text.

They are compiled code, which takes half a second and 130 MB to load, and 30 us for a page: one
process of a crawl has it, and the workers start without.
"""

from __future__ import annotations

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
    """Return what the verdict on a page rests on.

    Args:
        extracted: The text.
        visible_digest: Of all that the page shows.
        parameters: How texts are compared; those of fewer than ``min_words`` words are judged by
            what is visible.
    """
    packed = extracted.text_zstd
    document = analyse(zstandard.decompress(packed).decode(), parameters)
    words, is_main = document.words, extracted.is_main
    if visible_digest is None or (is_main and document.fingerprint is not None):
        return Extract(packed, words, document.digest, document.fingerprint, is_main)
    # Only pages that show the same are its duplicates.
    return Extract(packed, words, visible_digest, None, is_main)
